// Marks that import adds to rows: execution_call of hand-made calls.
#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "derive/passes.hpp"
#include "derive/task_sums.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

std::vector<std::int64_t> ids(TraceDbWriter& store, const std::string& sql) {
  std::vector<std::int64_t> found;
  Statement read = store.readable().prepare(sql);
  while (read.step()) found.push_back(read.integer(0));
  return found;
}

// Adds calls that use `names` in rotation, enough for several reader threads; "" makes a call
// without a name.
void add_calls(TraceDbWriter& store, const std::vector<std::string>& names) {
  for (std::int64_t id = 1; id <= 150'000; ++id) {
    const std::string& name = names[static_cast<std::size_t>(id) % names.size()];
    ApiCallRow row;
    row.id = id;
    row.name_id = name.empty() ? kNull : store.name_id(name);
    row.start_ns = row.end_ns = id;
    store.add(row);
  }
}

void derive(TraceDbWriter& store, bool has_device) {
  store.add(TaskRow{.id = 1, .start_ns = 5, .duration_ns = 5});
  store.add(TaskRunRow{1, kNull, 1, 1, has_device ? 0 : kNull});
  OpTimes op_times;
  const TaskSums tasks = sum_tasks(store, op_times);
  derive_execution_calls(store, tasks);
}

}  // namespace

TEST_CASE("The calls of executions are found by name for boards and Atlas machines") {
  for (const bool has_device : {false, true}) {
    INFO("device: " << has_device);
    const TempFolder folder;
    TraceDbWriter store(folder / "msprof.db");
    add_calls(store, {"aclrtMalloc", "svp_acl_mdl_execute", "", "svp_acl_mdl_execute_async",
                      "aclmdlExecute", "aclmdlExecuteAsync", "aclmdlExecut"});
    derive(store, has_device);
    const auto expected =
        ids(store,
            "SELECT api_call.id FROM api_call JOIN name ON name.id = name_id WHERE text IN"
            " ('svp_acl_mdl_execute', 'aclmdlExecute') ORDER BY 1");
    CHECK(expected.size() == 2 * (150'000 / 7 + 1));
    CHECK(ids(store, "SELECT call_id FROM execution_call ORDER BY 1") == expected);
  }
}

TEST_CASE("A capture without execution calls has none, even if calls have no name") {
  for (const bool has_device : {false, true}) {
    const TempFolder folder;
    TraceDbWriter store(folder / "msprof.db");
    add_calls(store, {"", "aclrtMalloc"});
    derive(store, has_device);
    CHECK(ids(store, "SELECT count(*) FROM execution_call") == std::vector<std::int64_t>{0});
  }
}
