#include "import/cann/join/aicpu_names.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace msprof {

namespace {

using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

Key key_of(const AicpuNodeRow& node) {
  return {node.stream_id, node.task_number, node.end_ns};
}

}  // namespace

AicpuNames::AicpuNames(std::vector<AicpuNodeRow>& nodes) : nodes_(nodes), order_(nodes.size()) {
  std::iota(order_.begin(), order_.end(), std::uint32_t{0});
  std::stable_sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return key_of(nodes_[a]) < key_of(nodes_[b]);
  });
}

void AicpuNames::task(std::uint16_t stream, std::uint16_t task_number, std::int64_t start_ns,
                      std::int64_t end_ns, std::int64_t op_name_id) {
  const Key first{stream, task_number, start_ns};
  auto at = std::lower_bound(
      order_.begin(), order_.end(), first,
      [this](std::uint32_t node, const Key& key) { return key_of(nodes_[node]) < key; });
  for (; at != order_.end(); ++at) {
    AicpuNodeRow& node = nodes_[*at];
    if (key_of(node) > Key{stream, task_number, end_ns}) break;
    node.op_name_id = op_name_id;
  }
}

}  // namespace msprof
