#include "runtime/acl/prof/roomy_stack.hpp"

#include <pthread.h>

#include <cstddef>

#include "runtime/engine/undisturbed.hpp"

namespace msprof::acl {

namespace {

constexpr std::size_t kStackBytes = std::size_t{256} << 10;

struct Job {
  void (*run)(void* context) = nullptr;
  void* context = nullptr;
};

void* run_job(void* argument) {
  const Job& job = *static_cast<const Job*>(argument);
  job.run(job.context);
  return nullptr;
}

}  // namespace

void run_on_roomy_stack(void (*run)(void* context), void* context) {
  const runtime::Undisturbed undisturbed;
  Job job = {run, context};
  pthread_attr_t attributes;
  pthread_t thread;
  bool has_thread = false;
  if (pthread_attr_init(&attributes) == 0) {
    has_thread = pthread_attr_setstacksize(&attributes, kStackBytes) == 0 &&
                 pthread_create(&thread, &attributes, run_job, &job) == 0;
    pthread_attr_destroy(&attributes);
  }
  if (has_thread)
    pthread_join(thread, nullptr);
  else
    run(context);
}

}  // namespace msprof::acl
