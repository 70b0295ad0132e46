#include "export/unified/task_ops.hpp"

namespace msprof::unified {

namespace {

// Beyond so many operators they are read again and again rather than kept.
constexpr std::size_t kMostOps = 1 << 15;

enum Cell : int {
  kName,
  kBlockNum,
  kMixBlockNum,
  kUnit,
  kType,
  kFirstTensor,  // formats, types, shapes of inputs; the same of outputs
  kAttribute = kFirstTensor + 6,
  kDynamic,
  kHf32,
  kGridDim,
  kBlockDim
};

constexpr const char* kOps =
    "SELECT name_id, block_num, mix_block_num, unit_name_id, type_name_id, input_formats_name_id,"
    " input_types_name_id, input_shapes_name_id, output_formats_name_id, output_types_name_id,"
    " output_shapes_name_id, attribute_name_id, is_dynamic, hf32_eligible, grid_dim_name_id,"
    " block_dim_name_id FROM op WHERE id = ?";

}  // namespace

TaskOps::TaskOps(Writer& out)
    : out_(out),
      read_(out.store().prepare(kOps)),
      text_(out.store().prepare("SELECT text FROM name WHERE id = ?")) {
  Statement streams =
      out.store().prepare("SELECT stream_id FROM kfc_stream WHERE is_comm_stream = 0 ORDER BY id");
  while (streams.step()) kfc_streams_.insert(streams.integer(0));
}

const TaskOp& TaskOps::of(std::int64_t op_id) {
  const auto known = known_.find(op_id);
  if (known != known_.end()) return known->second;
  if (known_.size() >= kMostOps) known_.clear();
  return known_[op_id] = load(op_id);
}

std::string TaskOps::text_of(std::int64_t name_id) {
  text_.reset();
  text_.bind(1, out_.name(name_id));
  return text_.step() ? std::string(text_.text(0)) : std::string();
}

// In quotes, as op_summary has them.
std::int64_t TaskOps::shapes(std::optional<std::int64_t> name_id) {
  if (!name_id) return out_.name(name_id);
  const auto [at, is_new] = shapes_.try_emplace(*name_id);
  if (is_new) {
    const std::string text = text_of(*name_id);
    at->second = text == "N/A" ? *name_id : out_.text('"' + text + '"');
  }
  return at->second;
}

TaskOp TaskOps::load(std::int64_t op_id) {
  read_.reset();
  read_.bind(1, op_id);
  if (!read_.step()) throw out_.store().damaged("a task of an operator that is not there");
  const auto name = [&](int cell) { return out_.name(read_.maybe_integer(cell)); };
  const auto one_of = [&](int cell, const char* no, const char* yes) {
    return out_.text(read_.is_null(cell) ? "N/A" : read_.integer(cell) != 0 ? yes : no);
  };
  TaskOp op;
  op.name = name(kName);
  op.block_num = read_.integer(kBlockNum);
  op.mix_block_num = read_.integer(kMixBlockNum);
  op.unit = name(kUnit);
  op.type = name(kType);
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    const int cell = kFirstTensor + static_cast<int>(i);
    op.tensors[i] = i % 3 == 2 ? shapes(read_.maybe_integer(cell)) : name(cell);
  }
  op.attribute = name(kAttribute);
  op.state = one_of(kDynamic, "static", "dynamic");
  op.hf32 = one_of(kHf32, "NO", "YES");
  op.grid_dim = name(kGridDim);
  op.block_dim = name(kBlockDim);
  op.is_scheduling =
      !read_.is_null(kName) && text_of(read_.integer(kName)).ends_with("AicpuKernel");
  return op;
}

}  // namespace msprof::unified
