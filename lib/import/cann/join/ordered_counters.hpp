// OrderedCounters: the counters of aicore.data and aiVectorCore.data, which carry no time, given
// out in the order of the file, a task id of a stream at a time.
// For join_devices(). Sources: cann_device.md 7.1, cann_corrections.md B13.
#pragma once

#include <deque>

#include "import/cann/device_streams.hpp"
#include "import/cann/join/flat_table.hpp"

namespace msprof::cann {

// One file's.
class CounterQueue {
 public:
  using Decode = AicoreRecord (*)(const StreamRecord&);
  // `stream` is open, and may be null.
  CounterQueue(RecordStream* stream, Decode decode) : stream_(stream), decode_(decode) {}

  bool has_file() const { return stream_ != nullptr; }
  bool take(std::uint16_t stream, std::uint16_t task_number, CoreCounters& values);
  // Counters that no task took, once all tasks have asked.
  std::uint64_t left();

 private:
  struct Waiting {
    std::uint32_t key = 0;
    std::uint32_t next = FlatTable::kNone;  // of the same key
    std::uint32_t last = FlatTable::kNone;  // of the key; right in its first entry only
    std::uint64_t asked = 0;                // how many tasks had asked when it was read
    CoreCounters values;
    bool is_waiting = false;
  };
  bool make_room();
  void wait(std::uint32_t key, const CoreCounters& values);
  void unlink(std::uint32_t place);

  RecordStream* stream_;
  Decode decode_;
  std::uint64_t asked_ = 0;
  std::uint64_t given_up_ = 0;
  std::size_t count_ = 0;  // that wait
  FlatTable first_;        // by key
  std::vector<Waiting> waiting_;
  std::vector<std::uint32_t> free_;
  std::deque<std::uint32_t> arrival_;
};

class OrderedCounters : public OrderedPmu {
 public:
  OrderedCounters(CounterQueue aic, CounterQueue aiv)
      : aic_(std::move(aic)), aiv_(std::move(aiv)) {}

  bool take(std::uint16_t stream, std::uint16_t task_number, CoreKind core,
            CoreCounters& values) override {
    CounterQueue& queue = core == CoreKind::aiv && aiv_.has_file() ? aiv_ : aic_;
    return queue.take(stream, task_number, values);
  }
  std::uint64_t left() { return aic_.left() + aiv_.left(); }

 private:
  CounterQueue aic_;
  CounterQueue aiv_;
};

}  // namespace msprof::cann
