// fusion_op: one row per fused operator of a model, with its memory.
#include "export/products.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

class CannFusionOp : public cann::CannTable {
 public:
  CannFusionOp()
      : CannTable({.name = "fusion_op",
                   .title = "Fused operators",
                   .help = "fused operators of each model: original operators and memory",
                   .exists = "SELECT 1 FROM fusion_op",
                   .needs = {"fusion_op_info"}},
                  {"Device_id", "Model Name", "Model ID", "Fusion Op", "Original Ops",
                   "Memory Input(KB)", "Memory Output(KB)", "Memory Weight(KB)",
                   "Memory Workspace(KB)", "Memory Total(KB)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    cann::Texts texts(db);
    Statement read = db.prepare(
        "SELECT model_name_id, model_number, name_id, original_names_name_id, input_bytes,"
        " output_bytes, weight_bytes, workspace_bytes, total_bytes FROM fusion_op ORDER BY id");
    const ScopeFilter scope(output_file.scope);
    while (read.step()) {
      if (!scope.takes_model(read.maybe_integer(1))) continue;
      out.text("host");
      // The name of a model is empty if no record has it.
      out.text(read.is_null(0) ? std::string() : texts(read.integer(0)));
      out.number(read.maybe_integer(1).value_or(kInvalidId));
      cann::text_or_missing(out, texts, read.maybe_integer(2));
      out.text(read.is_null(3) ? std::string() : texts(read.integer(3)));
      for (int bytes = 4; bytes <= 8; ++bytes) out.number(cann::kb_exact(read.integer(bytes)));
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_fusion_op() {
  return std::make_unique<CannFusionOp>();
}

}  // namespace msprof
