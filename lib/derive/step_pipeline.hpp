// StepPipeline: the step marks of one model, in order of time, sorted to the iterations they belong
// to: two iterations may run at once. For iterations.cpp.
// Source: cann_device.md 13, cann_corrections.md C7.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace msprof {

struct StepMark {
  std::int64_t ticks = 0;
  std::int64_t time_ns = 0;
  std::int64_t tag = 0;
  std::int64_t stream = 0;
};

namespace step_tag {
inline constexpr std::int64_t kModelStart = 0;
inline constexpr std::int64_t kModelEnd = 1;
inline constexpr std::int64_t kForward = 2;
inline constexpr std::int64_t kBackward = 3;
inline constexpr std::int64_t kIterationEnd = 4;
// From here on a start is even and an end odd.
inline constexpr std::int64_t kFirstReduce = 10'000;
inline constexpr std::int64_t kFirstGetNext = 20'000;
inline constexpr std::int64_t kStepStart = 60'000;  // of the framework
inline constexpr std::int64_t kStepEnd = 60'001;
}  // namespace step_tag

class StepPipeline {
 public:
  using Emit = std::function<void(const StepMark&)>;
  // `emit` gets the marks again, those of one iteration behind those of the one before.
  explicit StepPipeline(Emit emit) : emit_(std::move(emit)) {}

  void add(const StepMark& mark);
  // Whatever waits for the end of its model.
  void flush();

 private:
  struct Open {
    std::vector<StepMark> marks;
    std::int64_t highest = -1;  // of its tags below 10
    bool has_start = false;
  };
  Open& open_new();
  template <typename Fits>
  Open& first_that(Fits&& fits);
  void emit_oldest();

  Emit emit_;
  std::deque<Open> open_;
};

}  // namespace msprof
