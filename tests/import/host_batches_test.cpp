// HostBatches and HostTaskStore. Source of the rules: cann_host.md 1.8.3.
#include <catch2/catch.hpp>
#include <vector>

#include "import/cann/join/host_association.hpp"
#include "import/cann/join/host_tasks.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;

namespace {

struct Launch {
  std::uint64_t time;
  std::uint16_t number;
  std::uint16_t stream = 1;
};

HostTrack make_track(const Launch& launch) {
  HostTrack track;
  track.time = launch.time;
  track.task_number = launch.number;
  track.stream = launch.stream;
  return track;
}

struct Flow {
  HostBatches batches;
  std::vector<Launch> launches;
  std::size_t most_held = 0;

  std::vector<int> run() {
    for (const Launch& launch : launches) batches.see_task(0, launch.stream, launch.time);
    batches.prepare();
    std::vector<int> out;
    std::uint64_t last = 0;
    const auto drain = [&] {
      for (; batches.has_next(); batches.next()) {
        CHECK(batches.peek().time >= last);
        last = batches.peek().time;
        out.push_back(batches.peek().batch);
      }
    };
    for (std::size_t i = 0; i < launches.size(); ++i) {
      batches.push(make_track(launches[i]));
      drain();
      most_held = std::max(most_held, i + 1 - out.size());
    }
    batches.finish();
    drain();
    return out;
  }
};

using Batches = std::vector<int>;

}  // namespace

TEST_CASE("tasks after a flip are in the next batch; a task at its time is before it") {
  Flow flow;
  flow.batches.add_flip(0, 1, 20, 0, false);
  flow.batches.add_flip(0, 1, 40, 0, false);
  flow.launches = {{10, 65534}, {20, 65535}, {21, 0}, {40, 1}, {41, 2}};
  CHECK(flow.run() == Batches{0, 0, 1, 1, 2});
  CHECK(flow.most_held == 0);
}

TEST_CASE("a flip moves the tasks just before it that have smaller numbers") {
  Flow flow;
  flow.batches.add_flip(0, 1, 30, 3, false);
  flow.launches = {{10, 1}, {11, 65000}, {12, 1}, {13, 2}, {31, 3}, {32, 1}};
  CHECK(flow.run() == Batches{0, 0, 1, 1, 1, 1});
}

TEST_CASE("a destroyed stream starts a new batch and moves no task") {
  Flow flow;
  flow.batches.add_flip(0, 1, 30, 3, true);
  flow.launches = {{10, 5}, {12, 1}, {31, 1}};
  CHECK(flow.run() == Batches{0, 0, 1});
  CHECK(flow.most_held == 0);
}

TEST_CASE("two flips without a task in between move a task twice") {
  Flow flow;
  flow.batches.add_flip(0, 1, 30, 3, false);
  flow.batches.add_flip(0, 1, 31, 9, false);
  flow.launches = {{10, 10}, {11, 5}, {12, 1}, {32, 7}};
  CHECK(flow.run() == Batches{0, 2, 2, 2});
}

TEST_CASE("a flip without a following task of its stream changes and delays nothing") {
  Flow flow;
  flow.batches.add_flip(0, 1, 30, 9, false);
  flow.launches = {{10, 1}, {20, 2}, {30, 3}, {40, 1, 2}};
  CHECK(flow.run() == Batches{0, 0, 0, 0});
  CHECK(flow.most_held == 0);
}

TEST_CASE("a task is delayed until a flip or a later number of its stream decides its batch") {
  Flow flow;
  flow.batches.add_flip(0, 1, 100, 2, false);
  flow.launches = {{10, 1}, {11, 7, 2}, {12, 5}, {13, 1}, {101, 8, 2}, {200, 3}};
  CHECK(flow.run() == Batches{0, 0, 0, 1, 0, 1});
  CHECK(flow.most_held == 2);
}

TEST_CASE("streams of several devices have separate batches") {
  Flow flow;
  flow.batches.add_flip(1, 1, 20, 0, false);
  flow.launches = {{10, 1}, {30, 2}};
  CHECK(flow.run() == Batches{0, 0});
}

TEST_CASE("host tasks are found in any order, independent of the launch order") {
  test::TempFolder folder;
  HostTaskStore store(folder.path());
  constexpr std::uint32_t kTasks = 1000;
  const auto scattered = [](std::uint32_t i) { return i * 377 % kTasks; };
  for (std::uint32_t i = 0; i < kTasks; ++i) {
    HostTask task;
    task.task_number = scattered(i);
    task.launch_count = scattered(i) * 7 % kTasks;
    task.op_id = scattered(i) + 1;
    store.add(task);
  }
  HostJoin join(store, 0);
  for (std::uint32_t i = 0; i < kTasks - 2; ++i) {
    const auto found = join.find(0, 0, scattered(kTasks - 1 - i), kInvalidId);
    REQUIRE(found.task != nullptr);
    CHECK(found.task->op_id == scattered(kTasks - 1 - i) + 1);
  }
  CHECK(join.find(0, 0, kTasks, kInvalidId).task == nullptr);
  CHECK(join.find(0, 0, 1, 1).task == nullptr);
  CHECK(join.resolved(true).empty());
  CHECK(join.unseen() == 2);
}

TEST_CASE("host tasks are read by stream and batch, in launch order, from memory and file") {
  test::TempFolder folder;
  HostTaskStore store(folder.path());
  constexpr std::uint64_t kTasks = 1000;
  for (std::uint64_t i = 0; i < kTasks; ++i) {
    HostTask task;
    task.device = 3;
    task.stream = static_cast<std::uint16_t>(i % 2);
    task.batch = 1;
    task.launch_count = kTasks - i;
    task.op_id = static_cast<std::int64_t>(i);
    store.add(task);
  }
  CHECK(store.remaining(3) == kTasks);
  CHECK(store.remaining(2) == 0);
  CHECK(store.take(3, 0, 0).size() == 0);
  const auto tasks = store.take(3, 1, 1);
  REQUIRE(tasks.size() == kTasks / 2);
  for (std::size_t i = 0; i < tasks.size(); ++i) CHECK(tasks[i].launch_count == 2 * i + 1);
  CHECK(tasks[0].op_id == kTasks - 1);
  CHECK(store.remaining(3) == kTasks / 2);
  CHECK(store.take(3, 1, 1).size() == 0);
  CHECK(test::names_in(folder.path()).empty());  // the temporary file has no name
}
