// CapturedOps: the operators of kernels that a graph replays, as capture_op_info describes them.
// For CannImport, the kinds that read them, and the host join. Source: cann_new_kinds.md 2.4.
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
  std::uint64_t name = 0;       // hashes
  std::uint64_t type = 0;
  std::uint64_t attribute = 0;
  std::uint32_t flag = 0;  // 0: not hf32 eligible
  bool is_unaging = false;
  std::span<const std::byte> tensors = {};  // TensorWire; of the table
};

class CapturedOps {
 public:
  // Copies the tensors; those of many operators are the same.
  void add(CapturedOp op) {
    const auto* bytes = reinterpret_cast<const char*>(op.tensors.data());
    const std::string& kept = *tensors_.emplace(bytes, op.tensors.size()).first;
    op.tensors = std::as_bytes(std::span(kept));
    ops_.push_back(op);
  }
  // After the last one.
  void sort() {
    std::stable_sort(ops_.begin(), ops_.end(), [](const CapturedOp& a, const CapturedOp& b) {
      return std::tuple(key_of(a), a.time) < std::tuple(key_of(b), b.time);
    });
  }
  bool empty() const { return ops_.empty(); }

  // Whose operator is asked for. Ids that older collectors wrote have the low 16 bits alone.
  struct Wanted {
    std::uint32_t device = 0;
    std::uint32_t stream = 0;
    std::uint32_t task = 0;
    bool has_wide_task = false;
    std::optional<std::uint32_t> model = {};  // empty: unknown
    bool has_wide_model = false;
  };
  // The last that was recorded; one of the very stream before one whose low bits are the same.
  // Null: none.
  const CapturedOp* find(const Wanted& wanted) const {
    CapturedOp low;
    low.device = wanted.device;
    low.stream = wanted.stream;
    low.task = wanted.task;
    const auto first =
        std::lower_bound(ops_.begin(), ops_.end(), key_of(low),
                         [](const CapturedOp& op, const Key& key) { return key_of(op) < key; });
    const CapturedOp* best = nullptr;
    for (auto op = first; op != ops_.end() && key_of(*op) == key_of(low); ++op) {
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
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  static Key key_of(const CapturedOp& op) { return {op.device, op.stream & kLow, op.task & kLow}; }
  static bool is_model(const CapturedOp& op, const Wanted& wanted) {
    return wanted.has_wide_model ? op.model == *wanted.model
                                 : (op.model & kLow) == (*wanted.model & kLow);
  }

  std::vector<CapturedOp> ops_;
  std::unordered_set<std::string> tensors_;
};

}  // namespace msprof::cann
