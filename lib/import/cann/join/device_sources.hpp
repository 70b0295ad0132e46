// Inputs of DeviceTasks that are not in order of time: StateTasks (tasks seen by the task
// scheduler) and OrderedCounters (counters without times).
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

// Maps type numbers in device records to ids in `name`; cached.
class DeviceTypes {
 public:
  DeviceTypes(TraceDbWriter& store, ChipFamily family) : store_(store), family_(family) {
    sqe_.fill(kUnasked);
    sub_task_.fill(kUnasked);
    runtime_.fill(kUnasked);
  }

  // Returns null for a number without a name.
  std::int64_t sqe(unsigned number) {
    if (number >= sqe_.size()) return kNull;
    std::int64_t& id = sqe_[number];
    if (id == kUnasked) id = name_or_null(sqe_type_name(family_, number));
    return id;
  }
  std::int64_t sub_task(unsigned number) {
    if (number >= sub_task_.size()) return kNull;
    std::int64_t& id = sub_task_[number];
    if (id == kUnasked) id = name_or_null(sub_task_type_name(number));
    return id;
  }
  std::int64_t runtime(unsigned number) {
    if (number >= runtime_.size()) return kNull;
    std::int64_t& id = runtime_[number];
    if (id == kUnasked) id = name_or_null(runtime_task_type_name(number));
    return id;
  }

 private:
  static constexpr std::int64_t kUnasked = -1;

  std::int64_t name_or_null(std::string_view name) {
    return name.empty() ? kNull : store_.name_id(name);
  }

  TraceDbWriter& store_;
  ChipFamily family_;
  std::array<std::int64_t, 256> sqe_;
  std::array<std::int64_t, 256> sub_task_;
  std::array<std::int64_t, 256> runtime_;
};

// Tasks in ts_track.data: all tasks of chip 310, the AI CPU tasks of 910A, and on 310P the tasks
// that no other record shows. Source: cann_device.md 3.4, 3.8, 4.
class StateTasks : public TaskWaits {
 public:
  StateTasks(std::span<const TaskState> states, const Chip& chip);

  // Marks a task as seen: a hardware record shows it at that time.
  void seen(std::uint16_t stream, std::uint16_t task_number, std::uint64_t ticks);
  // Sorts the starts and ends of the tasks that were not seen by ticks. Returns their number.
  std::size_t sort_logs(DeviceTypes& types);
  // Returns the start or end with this number.
  DeviceLog log(std::size_t number, DeviceTypes& types) const;

  Ticks find(std::uint16_t stream, std::uint32_t task_number,
             std::uint64_t start_ticks) const override;

  bool empty() const { return tasks_.empty(); }
  // Returns the number of ends without a start and of starts without an end.
  std::uint64_t incomplete() const { return incomplete_; }
  // Returns the number of 310 states without a meaning.
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
  struct LogKey {
    std::uint64_t ticks = 0;
    std::uint32_t task = 0;  // index into tasks_
    bool is_end = false;
  };
  void pair(std::vector<TaskState> states, std::uint16_t begin, std::uint16_t end);
  std::int64_t find_type(const Task& task, DeviceTypes& types) const;

  bool are_stand_ins_ = false;
  bool is_mini_ = false;
  std::vector<Task> tasks_;   // sorted by stream, task number, start
  std::vector<LogKey> logs_;  // of tasks that were not seen; logs are made when they are read
  std::uint64_t incomplete_ = 0;
  std::uint64_t unknown_states_ = 0;
};

// The counters of one file, returned in file order for each (stream, task id). Source:
// cann_device.md 7.1.
class CounterQueue {
 public:
  using Decode = AicoreRecord (*)(const StreamRecord&);
  // `stream` must be open; may be null.
  CounterQueue(RecordStream* stream, Decode decode) : stream_(stream), decode_(decode) {}
  // Uses records in memory instead of a file.
  explicit CounterQueue(std::span<const AicoreRecord> records) : records_(records) {}

  bool has_file() const { return stream_ != nullptr || !records_.empty(); }
  bool take(std::uint16_t stream, std::uint16_t task_number, CoreCounters& values);
  // Returns the number of counters that no task used. Call after all tasks.
  std::uint64_t left();

 private:
  struct Waiting {
    std::uint32_t key = 0;
    std::uint32_t next = FlatTable::kNotFound;  // next entry with the same key
    std::uint32_t last = FlatTable::kNotFound;  // last entry with the key; valid in its first entry
                                                // only
    std::uint64_t asked = 0;                    // value of asked_ when it was read
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
  std::size_t next_ = 0;
  std::uint64_t asked_ = 0;
  std::uint64_t given_up_ = 0;
  std::size_t count_ = 0;  // number of waiting records
  FlatTable first_;        // first waiting entry by key
  std::vector<Waiting> waiting_;
  std::vector<std::uint32_t> free_;
  std::deque<std::uint32_t> arrival_;
};

// Counters of aicore.data and aiVectorCore.data.
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
