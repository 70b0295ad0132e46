// Derives iteration and iteration_part: the steps of each model on each device, from step marks.
// Source: cann_device.md 13.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "base/number.hpp"
#include "derive/passes.hpp"
#include "wire/cann/device_wire.hpp"
#include "wire/cann/ts_track_wire.hpp"

namespace msprof {

namespace {

// StepPipeline groups the step marks of one model, added in order of time, by iteration. Two
// iterations may run at once. Source: cann_device.md 13.

struct StepMark {
  std::int64_t ticks = 0;
  std::int64_t time_ns = 0;
  std::int64_t tag = 0;
  std::int64_t stream = 0;
};

class StepPipeline {
 public:
  using Emit = std::function<void(const StepMark&)>;
  // Calls `emit` for all marks, one iteration at a time.
  explicit StepPipeline(Emit emit) : emit_(std::move(emit)) {}

  void add(const StepMark& mark);
  // Emits all marks that still wait for the end mark of their model.
  void flush();

 private:
  struct Open {
    std::vector<StepMark> marks;
    std::int64_t highest = -1;  // highest tag below 10 in the iteration
    bool has_start = false;
  };
  Open& open_new();
  template <typename Fits>
  Open& first_that(Fits&& fits);
  void emit_oldest();

  Emit emit_;
  std::deque<Open> open_;
};

// More open iterations mean that end marks of the model were lost.
constexpr std::size_t kMaxOpen = 256;

StepPipeline::Open& StepPipeline::open_new() {
  if (open_.size() >= kMaxOpen) emit_oldest();
  return open_.emplace_back();
}

template <typename Fits>
StepPipeline::Open& StepPipeline::first_that(Fits&& fits) {
  const auto found = std::find_if(open_.begin(), open_.end(), fits);
  return found == open_.end() ? open_new() : *found;
}

void StepPipeline::emit_oldest() {
  for (const StepMark& mark : open_.front().marks) emit_(mark);
  open_.pop_front();
}

void StepPipeline::add(const StepMark& mark) {
  using namespace cann::step_tag;
  if (mark.tag == kModelEnd) {
    if (open_.empty()) return;
    // Iterations that follow without a start mark belong to the same model run.
    do {
      emit_oldest();
    } while (!open_.empty() && !open_.front().has_start);
    emit_(mark);
  } else if (mark.tag == kModelStart) {
    Open& open = open_new();
    open.has_start = true;
    open.highest = kModelStart;
    open.marks.push_back(mark);
  } else if (mark.tag <= kIterationEnd) {
    Open& open = first_that([&](const Open& one) { return one.highest < mark.tag; });
    open.highest = mark.tag;
    open.marks.push_back(mark);
  } else if (mark.tag < kFirstGetNext) {
    first_that([](const Open& one) { return one.highest < kIterationEnd; }).marks.push_back(mark);
  } else {
    Open& open = open_.empty() ? open_new() : open_.back();
    open.marks.push_back(mark);
  }
}

void StepPipeline::flush() {
  while (!open_.empty()) emit_oldest();
}

using namespace cann::step_tag;

constexpr StepMark kNoMark{kNull, kNull, 0, 0};

struct IterationPart {
  StepMark start;
  StepMark end;
};

struct Iteration {
  std::int64_t model = 0;
  std::int64_t number = 0;
  bool is_framework_step = false;
  StepMark start = kNoMark;
  StepMark forward = kNoMark;
  StepMark backward = kNoMark;
  StepMark end = kNoMark;
  std::vector<IterationPart> reduces;
  std::vector<IterationPart> get_nexts;
};

bool is_there(const StepMark& mark) {
  return mark.ticks != kNull;
}

// Builds the iterations of a model from marks sorted by iteration.
class ModelSteps {
 public:
  ModelSteps(std::int64_t model, std::vector<Iteration>& out) : model_(model), out_(out) {}

  void add(const StepMark& mark) {
    if (mark.tag == kModelStart) {
      if (state_ == State::in_model) return;
      begin(mark);
      state_ = State::in_model;
    } else if (mark.tag == kModelEnd) {
      if (state_ != State::in_model) return;
      finish(mark);
      state_ = State::outside;
    } else if (state_ == State::outside) {
      return;
    } else if (mark.tag == kIterationEnd) {
      finish(mark);
      begin(mark);
      state_ = State::behind_end;
    } else {
      add_inner(mark);
    }
  }

 private:
  enum class State { outside, in_model, behind_end };

  void begin(const StepMark& start) {
    now_ = Iteration{};
    now_.model = model_;
    now_.start = start;
    open_reduces_.clear();
    open_get_nexts_.clear();
  }

  void finish(const StepMark& end) {
    now_.number = ++count_;
    now_.end = end;
    out_.push_back(std::move(now_));
  }

  void add_inner(const StepMark& mark) {
    if (mark.tag == kForward) {
      now_.forward = mark;
    } else if (mark.tag == kBackward) {
      now_.backward = mark;
    } else if (mark.tag < kFirstGetNext) {
      // Pairs an end with the latest start on its stream.
      pair(mark, mark.stream, open_reduces_, now_.reduces);
    } else {
      pair(mark, std::tuple(mark.stream, mark.tag / 2), open_get_nexts_, now_.get_nexts);
    }
  }

  template <typename Key>
  static void pair(const StepMark& mark, const Key& key, std::map<Key, StepMark>& open,
                   std::vector<IterationPart>& parts) {
    if (mark.tag % 2 == 0) {
      open.insert_or_assign(key, mark);
      return;
    }
    const auto found = open.find(key);
    if (found == open.end()) return;
    parts.push_back({found->second, mark});
    open.erase(found);
  }

  std::int64_t model_;
  std::vector<Iteration>& out_;
  State state_ = State::outside;
  std::int64_t count_ = 0;
  Iteration now_;
  std::map<std::int64_t, StepMark> open_reduces_;                              // by stream
  std::map<std::tuple<std::int64_t, std::int64_t>, StepMark> open_get_nexts_;  // by stream, pair
};

// Steps marked by the framework, by their index. A step has exactly two marks.
class FrameworkSteps {
 public:
  void add(std::int64_t index, const StepMark& mark) { by_index_[index].push_back(mark); }

  void finish(std::int64_t model, std::vector<Iteration>& out) {
    for (const auto& [index, marks] : by_index_) {
      if (marks.size() != 2 || marks[0].tag != kStepStart || marks[1].tag != kStepEnd) continue;
      Iteration step;
      step.model = model;
      step.number = index;
      step.is_framework_step = true;
      step.start = marks[0];
      step.end = marks[1];
      out.push_back(std::move(step));
    }
    by_index_.clear();
  }

 private:
  std::map<std::int64_t, std::vector<StepMark>> by_index_;
};

class DeviceSteps {
 public:
  // `is_old`: true for CANN 5: its marks are already in order, and tag 5 can also start the forward
  // pass (cann5_classic.md 9).
  DeviceSteps(std::int64_t device, std::int64_t frequency_hz, bool is_old)
      : device_(device), frequency_hz_(frequency_hz), is_old_(is_old) {}

  // Adds the marks of one model in order of time, each with its index_id.
  void add_model(std::int64_t model, const std::vector<std::pair<std::int64_t, StepMark>>& marks) {
    ModelSteps steps(model, iterations_);
    FrameworkSteps framework;
    StepPipeline pipeline([&](const StepMark& mark) { steps.add(mark); });
    for (const auto& [index, mark] : marks) {
      if (is_old_) {
        add_old(mark, steps);
      } else if (mark.tag == kStepStart || mark.tag == kStepEnd) {
        framework.add(index, mark);
      } else if (mark.tag >= kModelStart && mark.tag < kStepStart && !is_nothing(mark.tag)) {
        pipeline.add(mark);
      }
    }
    pipeline.flush();
    framework.finish(model, iterations_);
  }

  const std::vector<Iteration>& iterations() const { return iterations_; }

  void write(TraceDbWriter& store, std::int64_t& iteration_id, std::int64_t& part_id) {
    std::stable_sort(iterations_.begin(), iterations_.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.start.ticks, a.model, a.number) <
             std::tuple(b.start.ticks, b.model, b.number);
    });
    for (const Iteration& one : iterations_) ends_.push_back(one.end.ticks);
    std::sort(ends_.begin(), ends_.end());
    for (const Iteration& one : iterations_) {
      store.add(row(one, ++iteration_id));
      write_parts(store, one.get_nexts, true, iteration_id, part_id);
      write_parts(store, one.reduces, false, iteration_id, part_id);
    }
  }

 private:
  static void add_old(StepMark mark, ModelSteps& steps) {
    constexpr std::int64_t kDynamicForward = 5;
    if (mark.tag == kDynamicForward) mark.tag = kForward;
    if (mark.tag >= kModelStart && mark.tag < kStepStart && !is_nothing(mark.tag)) steps.add(mark);
  }

  // True for app marks and unassigned tags.
  static bool is_nothing(std::int64_t tag) { return tag > kIterationEnd && tag < kFirstReduce; }

  IterationRow row(const Iteration& one, std::int64_t id) const {
    IterationRow result;
    result.id = id;
    result.device_id = device_;
    result.model_number = one.model;
    result.number = one.number;
    result.start_ns = one.start.time_ns;
    result.fp_start_ns = one.forward.time_ns;
    result.bp_end_ns = one.backward.time_ns;
    result.end_ns = one.end.time_ns;
    result.duration_ns = duration_ns(one.start, one.end);
    result.fp_bp_ns = duration_ns(one.forward, one.backward);
    result.refresh_ns = duration_ns(one.backward, one.end);
    result.data_aug_ns = data_aug_ns(one.forward);
    result.is_framework_step = one.is_framework_step ? 1 : 0;
    return result;
  }

  // Time from the last end of any iteration to the start of this one's forward pass.
  std::int64_t data_aug_ns(const StepMark& forward) const {
    if (!is_there(forward)) return 0;
    const auto behind = std::upper_bound(ends_.begin(), ends_.end(), forward.ticks);
    if (behind == ends_.begin()) return 0;
    return duration_ns({*std::prev(behind), 0, 0, 0}, forward);
  }

  // Difference of the ticks in ns, truncated; 0 if a mark is missing.
  std::int64_t duration_ns(const StepMark& from, const StepMark& to) const {
    if (!is_there(from) || !is_there(to) || frequency_hz_ <= 0) return 0;
    const int128 ns = (int128{to.ticks} - from.ticks) * 1'000'000'000 / frequency_hz_;
    if (ns > INT64_MAX) return INT64_MAX;
    return ns < -INT64_MAX ? -INT64_MAX : static_cast<std::int64_t>(ns);
  }

  static void write_parts(TraceDbWriter& store, const std::vector<IterationPart>& parts,
                          bool is_get_next, std::int64_t iteration_id, std::int64_t& part_id) {
    for (const IterationPart& part : parts) {
      store.add(IterationPartRow{++part_id, iteration_id, is_get_next ? 1 : 0, part.start.time_ns,
                                 part.end.time_ns});
    }
  }

  std::int64_t device_;
  std::int64_t frequency_hz_;
  bool is_old_;
  std::vector<Iteration> iterations_;
  std::vector<std::int64_t> ends_;
};

std::map<std::int64_t, std::int64_t> tick_frequencies(const Database& db) {
  std::map<std::int64_t, std::int64_t> result;
  Statement read = db.prepare("SELECT id, tick_frequency_hz FROM device ORDER BY id");
  while (read.step()) result[read.integer(0)] = read.maybe_integer(1).value_or(0);
  return result;
}

// Reads step marks, one device at a time.
class StepReader {
 public:
  explicit StepReader(const Database& db)
      : frequencies_(tick_frequencies(db)),
        is_old_(!read_meta(db, "generation").empty()),
        read_(db.prepare(
            "SELECT index_id, model_number, ticks, time_ns, tag, stream_id FROM step_mark"
            " WHERE device_id = ? GROUP BY index_id, model_number, ticks, tag, stream_id"
            " ORDER BY model_number, ticks, min(id)")) {}

  // Ignores duplicates of a mark.
  DeviceSteps read_steps(std::int64_t device) {
    const auto frequency = frequencies_.find(device);
    DeviceSteps steps(device, frequency == frequencies_.end() ? 0 : frequency->second, is_old_);
    std::vector<std::pair<std::int64_t, StepMark>> marks;
    std::int64_t model = 0;
    read_.reset();
    read_.bind(1, device);
    while (read_.step()) {
      if (read_.integer(1) != model) {
        steps.add_model(model, marks);
        marks.clear();
        model = read_.integer(1);
      }
      marks.push_back({read_.integer(0),
                       {read_.integer(2), read_.maybe_integer(3).value_or(kNull), read_.integer(4),
                        read_.integer(5)}});
    }
    steps.add_model(model, marks);
    return steps;
  }

 private:
  std::map<std::int64_t, std::int64_t> frequencies_;
  bool is_old_;
  Statement read_;
};

}  // namespace

std::vector<IterationEnd> iteration_ends(const Database& db, std::int64_t device) {
  std::vector<IterationEnd> ends;
  const DeviceSteps steps = StepReader(db).read_steps(device);
  for (const Iteration& one : steps.iterations()) {
    if (!one.is_framework_step) ends.push_back({one.end.time_ns, one.model, one.number});
  }
  std::stable_sort(ends.begin(), ends.end(), [](const IterationEnd& a, const IterationEnd& b) {
    return a.end_ns < b.end_ns;
  });
  return ends;
}

void derive_iterations(TraceDbWriter& store) {
  const Database& db = store.readable();
  // Ids continue after the ids of training_trace.
  const auto read_last = [&](const char* sql) {
    Statement read = db.prepare(sql);
    return read.step() ? read.integer(0) : 0;
  };
  std::int64_t iteration_id = read_last("SELECT ifnull(max(id), 0) FROM iteration");
  std::int64_t part_id = read_last("SELECT ifnull(max(id), 0) FROM iteration_part");
  Statement devices = db.prepare("SELECT DISTINCT device_id FROM step_mark ORDER BY device_id");
  StepReader reader(db);
  while (devices.step()) reader.read_steps(devices.integer(0)).write(store, iteration_id, part_id);
}

}  // namespace msprof
