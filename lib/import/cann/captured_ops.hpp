// CapturedOps: operators of kernels replayed by a graph, from capture_op_info. Filled by the kinds
// that read them and used by the host join. Source: cann_new_kinds.md 2.4.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

namespace msprof::cann {

struct CapturedOp {
  std::uint64_t time = 0;
  std::uint32_t model = 0;
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  std::uint32_t task = 0;
  std::uint32_t task_type = 0;  // table T1
  std::uint32_t blocks = 0;     // low half: blocks, high half: mix ratio
  std::uint64_t name = 0;       // hash, as are the next two
  std::uint64_t type = 0;
  std::uint64_t attribute = 0;
  std::uint32_t flag = 0;  // 0: not hf32 eligible
  bool is_unaging = false;
  std::span<const std::byte> tensors = {};  // array of TensorWire, owned by CapturedOps
};

class CapturedOps {
 public:
  // Copies the tensors once for all operators that have the same ones.
  void add(CapturedOp op) {
    const auto* bytes = reinterpret_cast<const char*>(op.tensors.data());
    const std::string& kept = *tensors_.emplace(bytes, op.tensors.size()).first;
    op.tensors = std::as_bytes(std::span(kept));
    ops_.push_back(op);
  }
  // Call after the last add(), before find().
  void sort() {
    std::stable_sort(ops_.begin(), ops_.end(), [](const CapturedOp& a, const CapturedOp& b) {
      return std::tuple(make_key(a), a.time) < std::tuple(make_key(b), b.time);
    });
  }
  bool empty() const { return ops_.empty(); }

  // Identifies the operator to find. Ids written by older collectors have only the low 16 bits.
  struct WantedOp {
    std::uint32_t device = 0;
    std::uint32_t stream = 0;
    std::uint32_t task = 0;
    bool has_wide_task = false;
    std::optional<std::uint32_t> model = {};  // empty: unknown
    bool has_wide_model = false;
  };
  // Returns the operator that was recorded last. An exact match of the stream wins over a match of
  // its low 16 bits. Null if not found.
  const CapturedOp* find(const WantedOp& wanted) const {
    CapturedOp low;
    low.device = wanted.device;
    low.stream = wanted.stream;
    low.task = wanted.task;
    const auto first = std::lower_bound(
        ops_.begin(), ops_.end(), make_key(low),
        [](const CapturedOp& op, const CapturedOpKey& key) { return make_key(op) < key; });
    const CapturedOp* best = nullptr;
    for (auto op = first; op != ops_.end() && make_key(*op) == make_key(low); ++op) {
      if (wanted.has_wide_task && op->task != wanted.task) continue;
      if (op->stream != wanted.stream && wanted.stream > kLow) continue;
      if (wanted.model && !is_model(*op, wanted)) continue;
      if (best == nullptr || op->stream == wanted.stream || best->stream != wanted.stream)
        best = &*op;
    }
    return best;
  }

 private:
  static constexpr std::uint32_t kLow = 0xFFFF;
  using CapturedOpKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  static CapturedOpKey make_key(const CapturedOp& op) {
    return {op.device, op.stream & kLow, op.task & kLow};
  }
  static bool is_model(const CapturedOp& op, const WantedOp& wanted) {
    return wanted.has_wide_model ? op.model == *wanted.model
                                 : (op.model & kLow) == (*wanted.model & kLow);
  }

  std::vector<CapturedOp> ops_;
  std::unordered_set<std::string> tensors_;
};

}  // namespace msprof::cann
