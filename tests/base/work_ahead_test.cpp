#include "base/work_ahead.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

namespace msprof {

TEST_CASE("Work is done once, by the second thread or by the caller") {
  WorkAhead ahead;
  std::atomic<int> done = 0;
  std::vector<WorkAhead::Job> jobs;
  for (int i = 0; i < 1000; ++i) {
    const auto size = i % 7 == 0 ? WorkAhead::Size::large : WorkAhead::Size::small;
    jobs.push_back(ahead.start([&] { ++done; }, size));
  }
  for (WorkAhead::Job& job : jobs) {
    job.get();
    CHECK(!job);
  }
  CHECK(done == 1000);
}

TEST_CASE("Work starts before its result is requested") {
  WorkAhead ahead;
  std::atomic<bool> has_begun = false;
  std::thread::id worker;
  WorkAhead::Job job = ahead.start([&] {
    worker = std::this_thread::get_id();
    has_begun = true;
  });
  while (!has_begun) std::this_thread::yield();
  job.get();
  CHECK(worker != std::this_thread::get_id());
}

TEST_CASE("A single small chunk is done by the caller without waking a thread") {
  WorkAhead ahead;
  std::thread::id worker;
  WorkAhead::Job job =
      ahead.start([&] { worker = std::this_thread::get_id(); }, WorkAhead::Size::small);
  job.get();
  CHECK(worker == std::this_thread::get_id());
}

TEST_CASE("An exception of the work is rethrown by its job") {
  WorkAhead ahead;
  std::atomic<bool> has_begun = false;
  WorkAhead::Job job = ahead.start([&] {
    has_begun = true;
    throw std::runtime_error("no");
  });
  SECTION("on the second thread") {
    while (!has_begun) std::this_thread::yield();
    CHECK_THROWS_AS(job.get(), std::runtime_error);
  }
  SECTION("by the caller") {
    CHECK_THROWS_AS(job.get(), std::runtime_error);
  }
  // It still accepts other jobs.
  int done = 0;
  ahead.start([&] { ++done; }).get();
  CHECK(done == 1);
}

TEST_CASE("A destroyed job has ended or never starts") {
  WorkAhead ahead;
  std::atomic<bool> has_begun = false;
  std::atomic<bool> may_end = false;
  bool has_ended = false;
  int never = 0;
  std::thread opener;
  {
    const WorkAhead::Job running = ahead.start([&] {
      has_begun = true;
      while (!may_end) std::this_thread::yield();
      has_ended = true;
    });
    while (!has_begun) std::this_thread::yield();
    {
      const WorkAhead::Job waiting = ahead.start([&] { ++never; });
    }
    opener = std::thread([&] { may_end = true; });
  }
  CHECK(has_ended);
  opener.join();
  ahead.start([] {}).get();
  CHECK(never == 0);
}

}  // namespace msprof
