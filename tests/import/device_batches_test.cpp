// DeviceBatches and TaskPairing, which all device records share, compared with slow implementations
// of the rules of cann_device.md 5.3 and 14.2.
#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <random>

#include "import/cann/join/host_tasks.hpp"
#include "import/cann/join/task_matching.hpp"

using namespace msprof;

namespace {

struct BatchRecord {
  std::uint64_t ticks;
  std::uint16_t task;
};
struct Flip {
  std::uint64_t ticks;
  std::uint16_t task;
};
using Numbers = std::vector<int>;

// The batches of records and flips given in time order.
Numbers batches(const std::vector<BatchRecord>& records, const std::vector<Flip>& flips) {
  DeviceBatches batches;
  for (const Flip& flip : flips) batches.add_flip(7, flip.ticks, flip.task);
  // Passes the records in another order.
  for (std::size_t at = records.size(); at-- > 0;)
    batches.see(7, {records[at].ticks, at}, records[at].task);
  batches.finish();
  Numbers result;
  for (std::size_t at = 0; at < records.size(); ++at)
    result.push_back(batches.find_batch(7, {records[at].ticks, at}));
  return result;
}

// Slow implementation of the rule: cuts the segments one by one.
Numbers slow_batches(const std::vector<BatchRecord>& records, const std::vector<Flip>& flips) {
  std::vector<std::ptrdiff_t> cuts;  // the last record of each segment
  for (const Flip& flip : flips) {
    std::ptrdiff_t cut = -1;
    for (std::size_t at = 0; at < records.size() && records[at].ticks <= flip.ticks; ++at)
      cut = static_cast<std::ptrdiff_t>(at);
    if (flip.task != 0 && flip.task != 0xFFFF) {
      while (cut > 0 && records[static_cast<std::size_t>(cut)].task <= flip.task) --cut;
    }
    cuts.push_back(cut);
  }
  Numbers result;
  for (std::size_t at = 0; at < records.size(); ++at) {
    int batch = 0;
    for (std::size_t cut = 0; cut < cuts.size(); ++cut)
      if (static_cast<std::ptrdiff_t>(at) > cuts[cut]) batch = static_cast<int>(cut) + 1;
    result.push_back(batch);
  }
  return result;
}

struct Event {
  std::uint64_t key;
  std::uint64_t time;
  bool is_start;
};
using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Pairs pairs(const std::vector<Event>& events) {
  TaskPairing pairing;
  for (const Event& event : events) pairing.count(event.key, event.is_start);
  pairing.begin();
  std::map<TaskPairing::Slot, std::uint64_t> starts;
  Pairs result;
  for (const Event& event : events) {
    if (event.is_start) {
      const auto started = pairing.start(event.key);
      starts[started.slot] = event.time;
      if (started.given_up != TaskPairing::kNoSlot) pairing.release(started.given_up);
    } else if (const auto slot = pairing.end(event.key); slot != TaskPairing::kNoSlot) {
      result.emplace_back(starts.at(slot), event.time);
      pairing.release(slot);
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

// Slow implementation for a key with several records per kind: two queues.
Pairs slow_pairs(std::deque<std::uint64_t> starts, std::deque<std::uint64_t> ends) {
  Pairs result;
  while (!starts.empty() && !ends.empty()) {
    if (ends.front() < starts.front()) {
      ends.pop_front();
    } else if (starts.size() == 1 || ends.front() < starts[1]) {
      result.emplace_back(starts.front(), ends.front());
      starts.pop_front();
      ends.pop_front();
    } else {
      starts.pop_front();
    }
  }
  return result;
}

}  // namespace

TEST_CASE("a stream without flips has one batch") {
  CHECK(batches({{10, 0}, {20, 1}}, {}) == Numbers{0, 0});
  DeviceBatches other;
  other.add_flip(3, 15, 0);
  other.finish();
  CHECK(other.find_batch(7, {100, 0}) == 0);
  CHECK(other.find_batch(3, {15, 0}) == 0);
  CHECK(other.find_batch(3, {16, 0}) == 1);
}

TEST_CASE("a flip with task id 0 or 65535 starts a batch after the records of the same time") {
  const auto task = static_cast<std::uint16_t>(GENERATE(0, 0xFFFF));
  CHECK(batches({{10, 65000}, {20, 2}, {30, 1}}, {{20, task}}) == Numbers{0, 0, 1});
}

TEST_CASE("a flip with a task id includes preceding records whose ids are not greater") {
  CHECK(batches({{10, 65000}, {20, 65001}, {30, 0}, {40, 3}, {50, 4}}, {{45, 3}}) ==
        Numbers{0, 0, 1, 1, 1});
  CHECK(batches({{10, 65000}, {20, 65001}, {30, 0}, {40, 3}, {50, 4}}, {{45, 2}}) ==
        Numbers{0, 0, 0, 0, 1});
}

TEST_CASE("the first record of a stream stays in its first batch") {
  CHECK(batches({{10, 0}, {20, 1}, {30, 2}}, {{25, 9}}) == Numbers{0, 1, 1});
}

TEST_CASE("a later flip can include records from before an earlier one") {
  CHECK(batches({{10, 9}, {20, 1}, {40, 2}, {60, 3}}, {{30, 0}, {50, 5}}) == Numbers{0, 2, 2, 2});
}

TEST_CASE("batches follow the rule for all flips") {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    std::vector<BatchRecord> records;
    std::vector<Flip> flips;
    for (auto i = random() % 40; i > 0; --i)
      records.push_back({random() % 60, static_cast<std::uint16_t>(random() % 8)});
    for (auto i = random() % 5; i > 0; --i)
      flips.push_back({random() % 60, static_cast<std::uint16_t>(random() % 8)});
    const auto by_time = [](const auto& a, const auto& b) { return a.ticks < b.ticks; };
    std::stable_sort(records.begin(), records.end(), by_time);
    std::stable_sort(flips.begin(), flips.end(), by_time);
    REQUIRE(batches(records, flips) == slow_batches(records, flips));
  }
}

TEST_CASE("the i-th start is paired with the i-th end if there are equally many") {
  CHECK(pairs({{1, 10, true},
               {1, 20, true},
               {2, 25, true},
               {1, 30, false},
               {1, 40, false},
               {2, 50, false}}) == Pairs{{10, 30}, {20, 40}, {25, 50}});
}

TEST_CASE("a start without an end is dropped at the next start") {
  CHECK(pairs({{1, 10, true}, {1, 20, true}, {1, 30, false}, {1, 40, true}, {1, 50, false}}) ==
        Pairs{{20, 30}, {40, 50}});
}

TEST_CASE("an end without a start is ignored") {
  CHECK(pairs({{1, 5, false}, {1, 10, true}, {1, 20, false}}) == Pairs{{10, 20}});
  CHECK(pairs({{1, 5, false}}).empty());
}

TEST_CASE("keys with unequal numbers of starts and ends are paired by the rule") {
  std::mt19937 random(8);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Event> events;
    std::deque<std::uint64_t> starts;
    std::deque<std::uint64_t> ends;
    std::uint64_t time = 0;
    for (auto i = random() % 20; i > 0; --i) {
      const bool is_start = random() % 2 == 0;
      events.push_back({77, ++time, is_start});
      (is_start ? starts : ends).push_back(time);
    }
    if (starts.size() == ends.size()) continue;
    REQUIRE(pairs(events) == slow_pairs(starts, ends));
  }
}

TEST_CASE("keys distinguish stream, task and context") {
  const auto key = TaskPairing::make_key(1, 2, 3);
  CHECK(key != TaskPairing::make_key(2, 1, 3));
  CHECK(key != TaskPairing::make_key(1, 2, kInvalidId));
  CHECK(TaskPairing::make_key(1, 0x8000, 3) != TaskPairing::make_key(1, 0x8000, 4));
  CHECK(TaskPairing::make_key(1, 2, 0xFFFF) != TaskPairing::make_key(1, 2, kInvalidId));
}

TEST_CASE("a flat table has the same contents as a map") {
  std::mt19937 random(3);
  FlatTable table;
  std::map<std::uint64_t, std::uint32_t> map;
  for (int round = 0; round < 200'000; ++round) {
    const std::uint64_t key = random() % 500 * 0x1'0000'0001;
    if (random() % 2 == 0) {
      table.set(key, static_cast<std::uint32_t>(random() % 1000));
      map[key] = table.find(key);
    } else {
      table.erase(key);
      map.erase(key);
    }
    const auto found = map.find(key);
    REQUIRE(table.find(key) == (found == map.end() ? FlatTable::kNotFound : found->second));
  }
  REQUIRE(table.size() == map.size());
  for (const auto& [key, value] : map) REQUIRE(table.find(key) == value);
}
