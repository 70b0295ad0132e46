#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "base/on_thread.hpp"

namespace msprof {

std::size_t core_count(std::size_t most) {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, most);
}

void in_parallel(std::size_t count, std::size_t threads,
                 const std::function<void(std::size_t item, std::size_t thread)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::size_t failed = count;  // the first item that threw
  std::exception_ptr error;
  const auto run = [&](std::size_t thread) {
    for (std::size_t item = next++; item < count; item = next++) {
      try {
        work(item, thread);
      } catch (...) {
        const std::lock_guard lock(mutex);
        next = count;
        if (item < failed) {
          failed = item;
          error = std::current_exception();
        }
      }
    }
  };
  std::vector<std::future<void>> helpers;
  for (std::size_t thread = 1; thread < std::min(threads, count); ++thread)
    helpers.push_back(std::async(kOnThreadIfAny, run, thread));
  run(0);
  for (std::future<void>& helper : helpers) helper.get();
  if (error) std::rethrow_exception(error);
}

void in_parallel(const std::function<void()>& first, const std::function<void()>& second) {
  in_parallel(2, 2, [&](std::size_t item, std::size_t) { (item == 0 ? first : second)(); });
}

}  // namespace msprof
