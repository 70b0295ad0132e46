// Stores from other programs with more devices and models than any import writes: the number read
// is limited.
#include <catch2/catch.hpp>

#include "analyze/capture_info.hpp"
#include "support/cann_store.hpp"

namespace msprof::test {

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
