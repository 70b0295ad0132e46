#include "import/cann/join/device_counts.hpp"

#include <algorithm>

namespace msprof {

namespace {

std::uint64_t blocks_key(std::uint16_t stream, std::uint32_t task_number, std::uint16_t batch) {
  return static_cast<std::uint64_t>(batch) << 48 | static_cast<std::uint64_t>(task_number) << 16 |
         stream;
}

}  // namespace

void DeviceCounts::add_flip(std::uint16_t stream, std::uint64_t ticks, std::uint16_t task_number) {
  if (!has_batches_) return;
  for (DeviceBatches* batches :
       {&start_batches_, &counter_batches_, &block_batches_, &launch_batches_})
    batches->add_flip(stream, ticks, task_number);
}

void DeviceCounts::add_blocks(std::uint16_t stream, std::uint64_t ticks, std::uint32_t task_number,
                              std::uint16_t block_num, std::uint16_t mix_ratio) {
  blocks_.push_back({{ticks, blocks_.size()}, task_number, stream, block_num, mix_ratio});
  launch_batches_.see(stream, blocks_.back().place, task_number);
}

void DeviceCounts::count(const DeviceLog& log) {
  pairing_.count(TaskPairing::make_key(log.stream, log.task_number, log.context), log.is_start);
  if (log.is_start) start_batches_.see(log.stream, log.place, log.task_number);
}

void DeviceCounts::count(const TaskCounters& counters) {
  if (DeviceBatches* batches = find_batches(counters.what))
    batches->see(counters.stream, counters.end, counters.task_number);
}

std::uint16_t DeviceCounts::find_batch(const TaskCounters& counters) {
  DeviceBatches* batches = find_batches(counters.what);
  return batches == nullptr ? std::uint16_t{0} : batches->find_batch(counters.stream, counters.end);
}

// Returns null for records of chips without batches.
DeviceBatches* DeviceCounts::find_batches(TaskCounters::What what) {
  if (what == TaskCounters::What::task) return &counter_batches_;
  return what == TaskCounters::What::block ? &block_batches_ : nullptr;
}

void DeviceCounts::finish() {
  pairing_.begin();
  for (DeviceBatches* batches :
       {&start_batches_, &counter_batches_, &block_batches_, &launch_batches_})
    batches->finish();
  std::sort(blocks_.begin(), blocks_.end(),
            [](const Blocks& a, const Blocks& b) { return a.place < b.place; });
  for (std::size_t at = 0; at < blocks_.size(); ++at) {
    const Blocks& blocks = blocks_[at];
    const std::uint16_t batch = launch_batches_.find_batch(blocks.stream, blocks.place);
    block_places_.set(blocks_key(blocks.stream, blocks.task_number, batch),
                      static_cast<std::uint32_t>(at));
  }
}

const DeviceCounts::Blocks* DeviceCounts::find_blocks(std::uint16_t stream,
                                                      std::uint32_t task_number,
                                                      std::uint16_t batch) const {
  const std::uint32_t place = block_places_.find(blocks_key(stream, task_number, batch));
  return place == FlatTable::kNotFound ? nullptr : &blocks_[place];
}

}  // namespace msprof
