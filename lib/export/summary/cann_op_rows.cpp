#include "export/summary/cann_op_rows.hpp"

#include <algorithm>

namespace msprof::cann {

namespace {

// Beyond so many operators they are formatted again and again rather than kept.
constexpr std::size_t kMostOps = 1 << 15;

enum Cell : int {
  kName,
  kType,
  kUnit,
  kDynamic,
  kBlockNum,
  kMixBlockNum,
  kHf32,
  kFirstTensor,  // input shapes, types, formats; output shapes, types, formats
};
constexpr int kTensorCells = 6;

bool is_any_of(std::string_view text, std::initializer_list<std::string_view> others) {
  return std::find(others.begin(), others.end(), text) != others.end();
}

}  // namespace

OpRows::OpRows(const Database& db, bool has_mix)
    : db_(db),
      has_mix_(has_mix),
      texts_(db),
      read_(db.prepare(
          "SELECT name_id, type_name_id, unit_name_id, is_dynamic, block_num, mix_block_num,"
          " hf32_eligible, input_shapes_name_id, input_types_name_id, input_formats_name_id,"
          " output_shapes_name_id, output_types_name_id, output_formats_name_id"
          " FROM op WHERE id = ?")) {}

OpRows::Op& OpRows::of(std::int64_t op_id) {
  op_id_ = op_id;
  const auto known = known_.find(op_id);
  if (known != known_.end()) return known->second;
  if (known_.size() >= kMostOps) known_.clear();
  Op& op = known_[op_id];
  load(op, op_id);
  return op;
}

void OpRows::read_again(std::int64_t op_id) {
  if (read_id_ == op_id) return;
  read_.reset();
  read_.bind(1, op_id);
  if (!read_.step()) throw db_.damaged("a task of an operator that is not there");
  read_id_ = op_id;
}

void OpRows::load(Op& op, std::int64_t op_id) {
  read_again(op_id);
  const std::string unit = read_.is_null(kUnit) ? "N/A" : texts_(read_.integer(kUnit));
  op.is_printed = !is_any_of(unit, {"WRITE_BACK", "INVALID", "HCCL_AI_CPU"});
  // Collectives have rows of their own, but for kernels that run on the vector cores.
  if (unit == "COMMUNICATION") {
    op.is_printed = !read_.is_null(kName) && texts_(read_.integer(kName)).ends_with("AivKernel");
  }
  op.has_counters = !is_any_of(unit, {"AI_CPU", "DSA_SQE", "DVPP"});
  op.block_num = read_.integer(kBlockNum);
  op.mix_block_num = read_.integer(kMixBlockNum);
}

void OpRows::write_front(TableWriter& out, Op& op) {
  out.repeated(op.front, 4, [&] {
    read_again(op_id_);
    text_or_missing(out, texts_, read_.maybe_integer(kName));
    text_or_missing(out, texts_, read_.maybe_integer(kType));
    const auto dynamic = read_.maybe_integer(kDynamic);
    dynamic ? out.text(*dynamic != 0 ? "dynamic" : "static") : out.missing();
    text_or_missing(out, texts_, read_.maybe_integer(kUnit));
  });
}

void OpRows::write_back(TableWriter& out, Op& op) {
  out.repeated(op.back, back_cells(), [&] {
    read_again(op_id_);
    out.number_or_missing(read_.maybe_integer(kBlockNum));
    if (has_mix_) out.number_or_missing(read_.maybe_integer(kMixBlockNum));
    const auto hf32 = read_.maybe_integer(kHf32);
    hf32 ? out.text(*hf32 != 0 ? "YES" : "NO") : out.missing();
    for (int tensor = 0; tensor < kTensorCells; ++tensor) {
      const auto id = read_.maybe_integer(kFirstTensor + tensor);
      const bool is_shapes = tensor % 3 == 0;
      if (!id) {
        out.missing();
      } else if (is_shapes && texts_(*id) != "N/A") {
        // Quoted as text, too, so that a spreadsheet takes no shape for a number.
        out.text('"' + texts_(*id) + '"');
      } else {
        out.text(texts_(*id));
      }
    }
  });
}

}  // namespace msprof::cann
