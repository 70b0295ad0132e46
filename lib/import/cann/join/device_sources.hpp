// Inputs of DeviceTasks beside the records that come in order of time: StateTasks, tasks as the
// task scheduler saw them, and OrderedCounters, counters that carry no time. For join_devices().
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "import/cann/device_streams.hpp"
#include "import/cann/join/flat_table.hpp"
#include "store/trace_db_writer.hpp"

namespace msprof::cann {

// Names of what a device ran, by the numbers in its records, as ids in `name`; quick when
// repeated.
class DeviceTypes {
 public:
  DeviceTypes(TraceDbWriter& store, ChipFamily family) : store_(store), family_(family) {
    sqe_.fill(kUnasked);
    sub_task_.fill(kUnasked);
    runtime_.fill(kUnasked);
  }

  // Null for a number without a name.
  std::int64_t sqe(unsigned number) {
    if (number >= sqe_.size()) return kNull;
    std::int64_t& id = sqe_[number];
    if (id == kUnasked) id = id_of(sqe_type_name(family_, number));
    return id;
  }
  std::int64_t sub_task(unsigned number) {
    if (number >= sub_task_.size()) return kNull;
    std::int64_t& id = sub_task_[number];
    if (id == kUnasked) id = id_of(sub_task_type_name(number));
    return id;
  }
  std::int64_t runtime(unsigned number) {
    if (number >= runtime_.size()) return kNull;
    std::int64_t& id = runtime_[number];
    if (id == kUnasked) id = id_of(runtime_task_type_name(number));
    return id;
  }

 private:
  static constexpr std::int64_t kUnasked = -1;

  std::int64_t id_of(std::string_view name) { return name.empty() ? kNull : store_.name_id(name); }

  TraceDbWriter& store_;
  ChipFamily family_;
  std::array<std::int64_t, 256> sqe_;
  std::array<std::int64_t, 256> sub_task_;
  std::array<std::int64_t, 256> runtime_;
};

// Tasks of ts_track.data: those of chip 310, the AI CPU tasks of 910A, and on 310P those that no
// other record shows. Source: cann_device.md 3.4, 3.8, 4.
class StateTasks : public TaskWaits {
 public:
  StateTasks(std::span<const TaskState> states, const Chip& chip);

  // Marks a task as seen: a record of the hardware shows it at that moment.
  void seen(std::uint16_t stream, std::uint16_t task_number, std::uint64_t ticks);
  // Returns starts and ends, by ticks, of the tasks that were not seen.
  std::vector<DeviceLog> logs(DeviceTypes& types) const;

  Ticks of(std::uint16_t stream, std::uint32_t task_number,
           std::uint64_t start_ticks) const override;

  bool empty() const { return tasks_.empty(); }
  // Number of ends without a beginning and the other way round.
  std::uint64_t incomplete() const { return incomplete_; }
  // States of a 310 that have no meaning.
  std::uint64_t unknown_states() const { return unknown_states_; }

 private:
  struct Task {
    std::uint16_t stream = 0;
    std::uint16_t task_number = 0;
    std::uint16_t type = 0;
    bool is_seen = false;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    Ticks waits;
  };
  void pair(std::vector<TaskState> states, std::uint16_t begin, std::uint16_t end);

  bool are_stand_ins_ = false;
  bool is_mini_ = false;
  std::vector<Task> tasks_;  // by stream, task number, start
  std::uint64_t incomplete_ = 0;
  std::uint64_t unknown_states_ = 0;
};

// The counters of one file, given out in the order of the file, a task id of a stream at a time.
// Source: cann_device.md 7.1.
class CounterQueue {
 public:
  using Decode = AicoreRecord (*)(const StreamRecord&);
  // `stream` is open, and may be null.
  CounterQueue(RecordStream* stream, Decode decode) : stream_(stream), decode_(decode) {}
  // Records that are in memory.
  explicit CounterQueue(std::span<const AicoreRecord> records) : records_(records) {}

  bool has_file() const { return stream_ != nullptr || !records_.empty(); }
  bool take(std::uint16_t stream, std::uint16_t task_number, CoreCounters& values);
  // Counters that no task took, once all tasks have asked.
  std::uint64_t left();

 private:
  struct Waiting {
    std::uint32_t key = 0;
    std::uint32_t next = FlatTable::kNone;  // of the same key
    std::uint32_t last = FlatTable::kNone;  // of the key; right in its first entry only
    std::uint64_t asked = 0;                // number of tasks that had asked when it was read
    CoreCounters values;
    bool is_waiting = false;
  };
  bool has_more();
  AicoreRecord read();
  bool make_room();
  void wait(std::uint32_t key, const CoreCounters& values);
  void unlink(std::uint32_t place);

  RecordStream* stream_ = nullptr;
  Decode decode_ = nullptr;
  std::span<const AicoreRecord> records_;
  std::size_t next_ = 0;  // of records_
  std::uint64_t asked_ = 0;
  std::uint64_t given_up_ = 0;
  std::size_t count_ = 0;  // that wait
  FlatTable first_;        // by key
  std::vector<Waiting> waiting_;
  std::vector<std::uint32_t> free_;
  std::deque<std::uint32_t> arrival_;
};

// aicore.data and aiVectorCore.data.
class OrderedCounters : public OrderedPmu {
 public:
  OrderedCounters(CounterQueue aic, CounterQueue aiv)
      : aic_(std::move(aic)), aiv_(std::move(aiv)) {}

  bool take(std::uint16_t stream, std::uint32_t task_number, CoreKind core,
            CoreCounters& values) override {
    CounterQueue& queue = core == CoreKind::aiv && aiv_.has_file() ? aiv_ : aic_;
    return queue.take(stream, static_cast<std::uint16_t>(task_number), values);
  }
  std::uint64_t left() { return aic_.left() + aiv_.left(); }

 private:
  CounterQueue aic_;
  CounterQueue aiv_;
};

}  // namespace msprof::cann
