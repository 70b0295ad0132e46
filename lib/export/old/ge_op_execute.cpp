// ge_op_execute of CANN 5: one row per operator-level call, by start. The type is that of the
// operators with this name; N/A if they differ. Source: cann_device.md 24.
#include <unordered_map>

#include "export/products.hpp"
#include "export/scope/scoped_rows.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

// Operator types by operator name. Size: one entry per name.
class OpTypes {
 public:
  explicit OpTypes(const Database& db) {
    Statement read = db.prepare(
        "SELECT name_id, type_name_id FROM op"
        " WHERE name_id IS NOT NULL AND type_name_id IS NOT NULL ORDER BY id");
    while (read.step()) {
      const auto [at, is_new] = types_.try_emplace(read.integer(0), read.integer(1));
      if (!is_new && at->second != read.integer(1)) at->second.reset();
    }
  }
  std::optional<std::int64_t> find(std::optional<std::int64_t> name_id) const {
    const auto at = name_id ? types_.find(*name_id) : types_.end();
    return at == types_.end() ? std::nullopt : at->second;
  }

 private:
  std::unordered_map<std::int64_t, std::optional<std::int64_t>> types_;
};

class CannGeOpExecute : public cann::CannTable {
 public:
  CannGeOpExecute()
      : CannTable({.name = "ge_op_execute",
                   .title = "Launches of operators",
                   .help = "every call that launches an operator",
                   .exists = cann::exists_call<call_level::kNode>(),
                   .cann5_place = 8,
                   .is_cann5_only = true},
                  {"Thread ID", "OP Name", "OP Type", "Event Type", "Start Time", "Duration(us)"}) {
  }

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    const OpTypes types(db);
    cann::Texts texts(db);
    cann::CallCursor calls(db, output_file.scope, {&ApiCallRow::item_name_id, &ApiCallRow::level});
    while (calls.next()) {
      if (calls->level != call_level::kNode) continue;
      const auto op = given(calls->item_name_id);
      out.number_or_missing(given(calls->thread_id));
      cann::text_or_missing(out, texts, op);
      cann::text_or_missing(out, texts, types.find(op));
      cann::text_or_missing(out, texts, given(calls->name_id));
      cann::us_timestamp(out, calls->start_ns);
      cann::us_number(out, calls.duration_ns());
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_ge_op_execute() {
  return std::make_unique<CannGeOpExecute>();
}

}  // namespace msprof
