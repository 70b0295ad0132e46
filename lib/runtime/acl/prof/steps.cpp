#include "runtime/acl/prof/steps.hpp"

#include <array>
#include <atomic>
#include <new>

#include "runtime/acl/device/lookup.hpp"
#include "runtime/acl/prof/recorder.hpp"
#include "runtime/engine/clock.hpp"

struct aclprofStepInfo {
  std::uint64_t index = 0;
  std::array<std::atomic<bool>, 2> used{};  // indexed by tag
};

namespace msprof::acl {

aclprofStepInfo* create_step() {
  static std::atomic<std::uint64_t> next_index{1};
  auto* const step = new (std::nothrow) aclprofStepInfo;
  if (step != nullptr) step->index = next_index.fetch_add(1);
  return step;
}

void destroy_step(aclprofStepInfo* step) {
  delete step;
}

aclError mark_step(aclprofStepInfo* step, std::uint32_t tag, void* stream) {
  if (step == nullptr || tag >= step->used.size()) return ACL_ERROR_INVALID_PARAM;
  if (step->used[tag].exchange(true)) return ACL_ERROR_INVALID_PARAM;
  Launch launch;
  launch.begin_ns = runtime::monotonic_ns();
  if (!enqueue_step(stream, step->index, kNoModel, static_cast<std::uint16_t>(tag), launch.ids)) {
    step->used[tag].store(false);
    return ACL_ERROR_GE_FAILURE;
  }
  launch.end_ns = runtime::monotonic_ns();
  record_task_launch(launch, TaskKind::step);
  return ACL_SUCCESS;
}

}  // namespace msprof::acl
