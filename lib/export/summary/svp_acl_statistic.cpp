// acl_statistic: one row per process, thread, type and name of calls, longest total time first.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/number.hpp"
#include "export/products.hpp"
#include "export/summary/svp_tables.hpp"
#include "store/row_cursor.hpp"

namespace msprof {

namespace {

constexpr std::array<std::string_view, 10> kAclStatisticColumns = {
    "Process ID",     "Thread ID", "Type",    "Name",    "Total Time Ratio(%)",
    "Total Time(us)", "Count",     "Avg(us)", "Max(us)", "Min(us)"};

// Process, thread (-1: unknown), type and name ids.
using CallKey = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

struct Total {
  int128 sum_ns = 0;
  std::int64_t count = 0;
  std::int64_t longest_ns = 0;
  std::int64_t shortest_ns = INT64_MAX;
  bool is_known = true;  // every call has a start and an end
};

struct CallStatisticRow {
  CallKey key;
  std::string type;
  std::string name;
  Total total;
};

std::map<CallKey, Total> read_totals(const Database& db, std::int64_t model_row) {
  std::map<CallKey, Total> totals;
  RowCursor<ApiCallRow> calls(
      db,
      {&ApiCallRow::process_id, &ApiCallRow::thread_id, &ApiCallRow::type_name_id,
       &ApiCallRow::name_id, &ApiCallRow::start_ns, &ApiCallRow::end_ns},
      {.equal = {{&ApiCallRow::model_row, model_row}}});
  while (calls.next()) {
    Total& total =
        totals[{given(calls->process_id).value_or(-1), given(calls->thread_id).value_or(-1),
                calls->type_name_id, calls->name_id}];
    ++total.count;
    if (calls->start_ns == kNull || calls->end_ns == kNull) {
      total.is_known = false;
      continue;
    }
    const std::int64_t duration = saturating_subtract(calls->end_ns, calls->start_ns);
    total.sum_ns += duration;
    total.longest_ns = std::max(total.longest_ns, duration);
    total.shortest_ns = std::min(total.shortest_ns, duration);
  }
  return totals;
}

std::vector<CallStatisticRow> sorted_rows(const Database& db, std::int64_t model_row) {
  std::vector<CallStatisticRow> rows;
  Statement text = db.prepare("SELECT text FROM name WHERE id = ?");
  const auto read_name = [&text](std::int64_t id) {
    text.reset();
    text.bind(1, id);
    return text.step() ? std::string(text.text(0)) : std::string("N/A");
  };
  for (const auto& [key, total] : read_totals(db, model_row)) {
    rows.push_back({key, read_name(std::get<2>(key)), read_name(std::get<3>(key)), total});
  }
  std::sort(rows.begin(), rows.end(), [](const CallStatisticRow& a, const CallStatisticRow& b) {
    if (a.total.sum_ns != b.total.sum_ns) return a.total.sum_ns > b.total.sum_ns;
    return std::tie(a.name, a.key) < std::tie(b.name, b.key);
  });
  return rows;
}

class SvpAclStatistic : public SummaryTable {
 public:
  SvpAclStatistic()
      : SummaryTable({.name = "acl_statistic",
                      .title = "Acl statistic",
                      .help = "total, mean, longest and shortest time of every ACL call",
                      .needs = {"acl_api", true},
                      .is_shown = true,
                      .dialect = Dialect::svp}) {}
  std::vector<std::string> columns(const Database&) const override {
    return {kAclStatisticColumns.begin(), kAclStatisticColumns.end()};
  }

  std::vector<OutputFile> output_files(const Database& db) const override {
    std::vector<OutputFile> output_files;
    Statement any = db.prepare("SELECT EXISTS(SELECT 1 FROM api_call WHERE model_row = ?)");
    for (const svp::SvpModel& model : svp::models(db)) {
      any.reset();
      any.bind(1, model.row);
      if (!any.step() || any.integer(0) == 0) continue;
      // to sort by
      output_files.push_back({fmt::format("acl_statistic_{}_{}_0", model.device_id, model.model_id),
                              kNull, model.row, 0});
    }
    return output_files;
  }

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    const auto rows = sorted_rows(db, output_file.model_row);
    int128 whole = 0;
    bool is_known = true;
    for (const CallStatisticRow& row : rows) {
      whole += row.total.sum_ns;
      is_known = is_known && row.total.is_known;
    }
    for (const CallStatisticRow& row : rows) write_row(out, row, is_known ? whole : 0);
  }

 private:
  static void write_row(RowBuilder& out, const CallStatisticRow& row, int128 whole) {
    const auto number_or_missing = [&out](std::int64_t id) {
      id < 0 ? out.missing() : out.number(id);
    };
    number_or_missing(std::get<0>(row.key));
    number_or_missing(std::get<1>(row.key));
    out.text(row.type);
    out.text(row.name);
    const Total& total = row.total;
    whole == 0 ? out.missing() : out.number(fixed(total.sum_ns * 100, whole, 3));
    if (!total.is_known) {
      out.missing();
      out.number(total.count);
      for (int i = 0; i < 3; ++i) out.missing();
    } else {
      out.number(fixed(total.sum_ns, 1000, 3));
      out.number(total.count);
      out.number(fixed(total.sum_ns, static_cast<int128>(total.count) * 1000, 3));
      out.number(us_from_ns(total.longest_ns));
      out.number(us_from_ns(total.shortest_ns));
    }
    out.end_row();
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_svp_acl_statistic() {
  return std::make_unique<SvpAclStatistic>();
}

}  // namespace msprof
