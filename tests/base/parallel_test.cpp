#include "base/parallel.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace msprof {

TEST_CASE("Every item is worked on once, by threads with their own numbers") {
  constexpr std::size_t kThreads = 3;
  std::vector<int> calls(1000, 0);
  std::array<std::atomic<int>, kThreads> busy{};
  std::atomic<bool> is_alone = true;
  in_parallel(calls.size(), kThreads, [&](std::size_t item, std::size_t thread) {
    if (++busy.at(thread) > 1) is_alone = false;
    ++calls[item];
    --busy.at(thread);
  });
  CHECK(std::all_of(calls.begin(), calls.end(), [](int count) { return count == 1; }));
  CHECK(is_alone);
  in_parallel(0, kThreads, [](std::size_t, std::size_t) { FAIL("there is no item"); });
}

TEST_CASE("Items run at the same time, and thread 0 is the caller") {
  std::atomic<int> waiting = 0;
  std::array<std::thread::id, 2> ids;
  in_parallel(2, 8, [&](std::size_t, std::size_t thread) {
    ids.at(thread) = std::this_thread::get_id();
    ++waiting;
    while (waiting < 2) std::this_thread::yield();
  });
  CHECK(ids[0] == std::this_thread::get_id());
  CHECK(ids[1] != ids[0]);
}

TEST_CASE("The exception of the first item that fails is rethrown, and no further item starts") {
  std::atomic<bool> has_later_failed = false;
  std::atomic<int> begun = 0;
  const auto work = [&](std::size_t item, std::size_t) {
    ++begun;
    if (item == 0) {
      while (!has_later_failed) std::this_thread::yield();
    }
    has_later_failed = true;
    throw std::runtime_error(std::to_string(item));
  };
  CHECK_THROWS_WITH(in_parallel(1000, 2, work), "0");
  CHECK(begun == 2);
}

TEST_CASE("Two functions both run") {
  bool has_first = false;
  bool has_second = false;
  in_parallel([&] { has_first = true; }, [&] { has_second = true; });
  CHECK(has_first);
  CHECK(has_second);
}

TEST_CASE("The exception of either of two functions is rethrown, that of the first if both throw") {
  const auto fails = [](const char* text) { return [text] { throw std::runtime_error(text); }; };
  CHECK_THROWS_WITH(in_parallel(fails("first"), [] {}), "first");
  CHECK_THROWS_WITH(in_parallel([] {}, fails("second")), "second");
  CHECK_THROWS_WITH(in_parallel(fails("first"), fails("second")), "first");
}

TEST_CASE("The number of cores is limited to what the caller can use") {
  CHECK(core_count(1) == 1);
  CHECK(core_count(1000) >= 1);
}

}  // namespace msprof
