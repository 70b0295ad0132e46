// Stores from other programs with more operators, devices and models than any import writes: the
// number read is limited.
#include <catch2/catch.hpp>

#include "analyze/capture_info.hpp"
#include "analyze/compare/run_profile.hpp"
#include "support/cann_store.hpp"

namespace msprof::test {

TEST_CASE("compare reads 100,000 operators of a store, and the others as one") {
  constexpr std::int64_t kMore = 7;
  constexpr std::int64_t kCount = 100'000 + kMore;
  CannStore store;
  const std::int64_t name = store.name("MatMul");
  for (std::int64_t id = 1; id <= kCount; ++id) {
    OpRow op;
    op.id = id;
    op.name_id = op.type_name_id = name;
    store.add(op);
  }
  for (std::int64_t id = 1; id <= kCount; ++id) {
    TaskRow task;
    task.id = task.op_id = id;
    task.device_id = 0;
    task.start_ns = kSecond + 1000 * id;
    task.duration_ns = 1000;
    store.add(task);
  }
  const RunProfile run = read_run(store.db(), "PROF_A", false, ProfileUnit::whole_run);
  REQUIRE(run.ops.size() == static_cast<std::size_t>(kCount - kMore + 1));
  const OpProfile& others = run.ops.back();
  CHECK(others.name == "(others)");
  CHECK(others.count == kMore);
  CHECK(others.us == Approx(kMore));
}

TEST_CASE("query lists 10,000 devices, ranks, models and iterations of a store, not more") {
  constexpr std::int64_t kCount = 10'003;
  CannStore store;
  const std::int64_t group = store.name("group");
  for (std::int64_t id = 1; id <= kCount; ++id) {
    DeviceRow device;
    device.id = id;
    store.add(device);
    IterationRow iteration;
    iteration.id = iteration.model_number = id;
    store.add(iteration);
    CommCallRow call;
    call.id = call.local_rank = id;
    call.op_group_name_id = group;
    store.add(call);
  }
  const CaptureInfo info = capture_info(store.db().database());
  constexpr std::size_t kListed = 10'000;
  CHECK(info.devices.size() == kListed);
  CHECK(info.ranks.size() == kListed);
  CHECK(info.models.size() == kListed);
  CHECK(info.iterations.size() == kListed);
}

}  // namespace msprof::test
