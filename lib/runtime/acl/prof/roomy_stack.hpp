// What needs more stack than a thread of the application may have: 16 kB is the least that a
// system gives, of which 4 to 5 are taken when it starts.
#pragma once

#include <exception>
#include <utility>

namespace msprof::acl {

// Calls run(context) in a thread of 256 kB, which takes no signal, and waits for it; in this one
// where no thread is to be had.
void run_on_roomy_stack(void (*run)(void* context), void* context);

// The same for any work; gives and throws what it does. For what happens once, such as the start of
// a recording.
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
