#include "export/summary/cann_op_rows.hpp"

#include <algorithm>

#include "store/row_cursor.hpp"

namespace msprof::cann {

namespace {

// Beyond so many operators they are formatted again and again rather than kept.
constexpr std::size_t kMostOps = 1 << 15;

enum Cell : std::size_t {
  kName,
  kType,
  kUnit,
  kDynamic,
  kBlockNum,
  kMixBlockNum,
  kHf32,
  kFirstTensor,  // input shapes, types, formats; output shapes, types, formats
};
constexpr std::size_t kTensorCells = 6;

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
  const auto known = known_.find(op_id);
  if (known != known_.end()) return known->second;
  if (known_.size() >= kMostOps) known_.clear();
  Op& op = known_[op_id];
  load(op, op_id);
  return op;
}

void OpRows::load(Op& op, std::int64_t op_id) {
  read_.reset();
  read_.bind(1, op_id);
  if (!read_.step()) throw db_.damaged("a task of an operator that is not there");
  for (std::size_t i = 0; i < kCells; ++i)
    op.cells[i] = read_.maybe_integer(static_cast<int>(i)).value_or(kNull);
  const std::string unit = op.cells[kUnit] == kNull ? "N/A" : texts_(op.cells[kUnit]);
  op.is_printed = !is_any_of(unit, {"WRITE_BACK", "INVALID", "HCCL_AI_CPU"});
  // Collectives have rows of their own, but for kernels that run on the vector cores.
  if (unit == "COMMUNICATION") {
    op.is_printed = op.cells[kName] != kNull && texts_(op.cells[kName]).ends_with("AivKernel");
  }
  op.has_counters = !is_any_of(unit, {"AI_CPU", "DSA_SQE", "DVPP"});
  op.block_num = given(op.cells[kBlockNum]).value_or(0);
  op.mix_block_num = given(op.cells[kMixBlockNum]).value_or(0);
}

void OpRows::write_front(TableWriter& out, Op& op) {
  out.repeated(op.front, 4, [&] {
    text_or_missing(out, texts_, given(op.cells[kName]));
    text_or_missing(out, texts_, given(op.cells[kType]));
    const auto dynamic = given(op.cells[kDynamic]);
    dynamic ? out.text(*dynamic != 0 ? "dynamic" : "static") : out.missing();
    text_or_missing(out, texts_, given(op.cells[kUnit]));
  });
}

void OpRows::write_back(TableWriter& out, Op& op) {
  out.repeated(op.back, back_cells(), [&] {
    out.number_or_missing(given(op.cells[kBlockNum]));
    if (has_mix_) out.number_or_missing(given(op.cells[kMixBlockNum]));
    const auto hf32 = given(op.cells[kHf32]);
    hf32 ? out.text(*hf32 != 0 ? "YES" : "NO") : out.missing();
    for (std::size_t tensor = 0; tensor < kTensorCells; ++tensor) {
      const auto id = given(op.cells[kFirstTensor + tensor]);
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
