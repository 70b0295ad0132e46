// For work that needs more stack than a thread of the application may have: the system's minimum is
// 16 kB, of which 4 to 5 kB are used when the thread starts.
#pragma once

#include <exception>
#include <utility>

namespace msprof::acl {

// Calls run(context) in a thread with a stack of 256 kB and all signals blocked, and waits for it.
// If no thread can be created, calls it in the current one.
void run_on_roomy_stack(void (*run)(void* context), void* context);

// The same for any callable; returns its result and rethrows its exceptions. For rare work, such as
// starting a recording.
template <typename Work>
auto on_roomy_stack(Work work) -> decltype(work()) {
  using Result = decltype(work());
  struct Job {
    Work& work;
    Result result{};
    std::exception_ptr error{};
  } job{work};
  run_on_roomy_stack(
      [](void* context) {
        auto& own = *static_cast<Job*>(context);
        try {
          own.result = own.work();
        } catch (...) {
          own.error = std::current_exception();
        }
      },
      &job);
  if (job.error) std::rethrow_exception(job.error);
  return std::move(job.result);
}

}  // namespace msprof::acl
