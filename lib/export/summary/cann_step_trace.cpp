// step_trace: one row per iteration of a model, with its all-reduces.
#include "base/number.hpp"
#include "export/products.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

class CannStepTrace : public cann::CannTable {
 public:
  explicit CannStepTrace(cann::MissingPoints missing)
      : CannTable({.name = "step_trace",
                   .title = "Steps",
                   .help = "iterations of every model: forward and backward pass, all-reduces",
                   .exists = "SELECT 1 FROM iteration",
                   .needs = {"ts_track"},
                   .is_shown = true},
                  {"Device_id", "Iteration ID", "FP Start(us)", "BP End(us)", "Iteration End(us)",
                   "Iteration Time(us)", "FP to BP Time(us)", "Iteration Refresh(us)",
                   "Data Aug Bound(us)", "Model ID"}),
        has_zeros_(missing == cann::MissingPoints::zero) {}

  // Rows are sorted by time.
  std::vector<std::size_t> heat_columns() const override { return {kTimeColumn}; }

  // Adds two columns per all-reduce of the iteration with the most all-reduces.
  std::vector<std::string> columns(const Database& db) const override {
    auto all = CannTable::columns(db);
    for (std::int64_t left = cann::most_reduces(db); left > 0; --left) {
      all.emplace_back("Reduce Start(us)");
      all.emplace_back("Reduce Duration(us)");
    }
    return all;
  }

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    const std::int64_t most = cann::most_reduces(db);
    Statement read = db.prepare(
        "SELECT id, device_id, number, fp_start_ns, bp_end_ns, end_ns, duration_ns, fp_bp_ns,"
        " refresh_ns, data_aug_ns, model_number, start_ns FROM iteration ORDER BY id");
    cann::Reduces reduces(db, " ORDER BY iteration.id, part.id");
    const ScopeFilter scope(output_file.scope);
    while (read.step()) {
      const std::int64_t id = read.integer(0);
      if (!is_taken(scope, read)) {
        reduces.skip(id);
        continue;
      }
      out.number(read.integer(1));
      out.number(read.integer(2));
      const bool has_fp = !read.is_null(3);
      const bool has_bp = !read.is_null(4);
      for (const int time : {3, 4, 5}) {
        if (!read.is_null(time)) {
          cann::us_timestamp(out, read.integer(time));
        } else {
          has_zeros_ ? out.timestamp("0.000") : out.text("");
        }
      }
      cann::us_number(out, read.integer(6));
      const std::pair<int, bool> durations[] = {{7, has_fp && has_bp}, {8, has_bp}, {9, has_fp}};
      for (const auto& [duration, has_points] : durations) {
        has_points || has_zeros_ ? cann::us_number(out, read.integer(duration)) : out.text("");
      }
      out.number(read.maybe_integer(10).value_or(kInvalidId));
      std::int64_t left = most;
      reduces.for_each(id, [&](auto start_ns, auto end_ns) {
        cann::us_timestamp(out, start_ns.value_or(0));
        cann::us_number(out, saturating_subtract(end_ns.value_or(0), start_ns.value_or(0)));
        --left;
      });
      // One cell per missing pair, not two, because users compare the file with other tools.
      for (; left > 0; --left) out.missing();
      out.end_row();
    }
  }

 private:
  static constexpr std::size_t kTimeColumn = 5;

  static bool is_taken(const ScopeFilter& scope, const Statement& row) {
    return scope.takes(row.integer(1), row.integer(11), row.integer(5)) &&
           scope.takes_iteration(row.maybe_integer(10), row.integer(2));
  }

  bool has_zeros_;
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_step_trace() {
  return cann::make_step_trace(cann::MissingPoints::zero);
}

std::unique_ptr<SummaryTable> cann::make_step_trace(MissingPoints missing) {
  return std::make_unique<CannStepTrace>(missing);
}

}  // namespace msprof
