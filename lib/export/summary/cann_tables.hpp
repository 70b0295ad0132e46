// Helpers shared by the tables of CANN captures: file names, texts, number formats. Source of the
// formats: cann_device.md 8.6, 15.1; cann_host.md 2.4.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/number.hpp"
#include "export/scope/cann_rules.hpp"
#include "export/summary_table.hpp"
#include "store/database.hpp"

namespace msprof::cann {

// A table of the whole capture: one file `<name>_<time of the collection>` if its `exists` query
// returns a row.
class CannTable : public SummaryTable {
 public:
  CannTable(const TableInfo& info, std::vector<std::string> columns)
      : SummaryTable(info), columns_(std::move(columns)) {}

  std::vector<std::string> columns(const Database&) const override { return columns_; }
  std::vector<OutputFile> output_files(const Database& db) const override;

 private:
  std::vector<std::string> columns_;
};

// Tables that export/old also makes, in the form of CANN 5.
// The cells of step_trace that need a forward or backward mark which the step does not have.
enum class MissingPoints { zero, empty };
std::unique_ptr<SummaryTable> make_step_trace(MissingPoints missing);
std::unique_ptr<SummaryTable> make_msprof_tx(bool has_device_marks);

// Returns chunks of rows of the table `source`; `write` gets the first and last id of each.
std::vector<TableChunk> chunks_by_id(
    const Database& db, std::string_view source,
    const std::function<void(const Database&, IdRange, RowBuilder&)>& write);

// Returns SQL for `exists` of a table about the calls of one level.
template <std::int64_t kLevel>
std::string_view exists_call() {
  static const std::string select =
      "SELECT 1 FROM api_call WHERE level = " + std::to_string(kLevel);
  return select;
}

// Returns true if all devices have a STARS scheduler. Tables of other chips have no sub-tasks.
bool has_stars(const Database& db);

// Writes the text, or N/A if `name_id` is empty.
void text_or_missing(CellList& out, Texts& texts, std::optional<std::int64_t> name_id);
// Returns Cell::text_id of the text `name_id`, or of another text that is made from it alone.
enum class TextForm { plain, quoted };
std::uint32_t text_id(std::int64_t name_id, TextForm form = TextForm::plain);

// Writes ns as us with three decimals and a TAB.
inline void us_timestamp(RowBuilder& out, std::int64_t ns) {
  out.timestamp(ns, CellForm::us);
}
// Writes ns as us: "12.340".
inline void us_number(RowBuilder& out, std::int64_t ns) {
  out.number(ns, CellForm::us);
}
// Returns the quotient with at most `decimals` decimals, rounded, without trailing zeros.
std::string trimmed(int128 numerator, int128 denominator, int decimals);
// Returns a percentage in the form of trimmed(); "0" if `whole` is 0.
std::string format_percent(int128 part, int128 whole, int decimals);
// Returns the quotient with at most three decimals: "12.34", "4".
std::string trimmed3(int128 numerator, int128 denominator);
// Like trimmed3(), but with at least one decimal: "12.34", "4.0".
std::string float3(int128 numerator, int128 denominator);
// Converts bytes to KB with three decimals, halves to even: "0.062".
std::string kb_float3(std::int64_t bytes);
// Converts bytes to KB with all digits, at most 15: "0.09765625", "2.0".
std::string kb_exact(std::int64_t bytes);

// Durations of one kind summed up, as op_statistic and communication_statistic print them.

struct DurationStats {
  std::int64_t count = 0;
  int128 total_ns = 0;
  std::int64_t shortest_ns = INT64_MAX;
  std::int64_t longest_ns = INT64_MIN;

  void add(std::int64_t duration_ns) {
    ++count;
    total_ns += duration_ns;
    shortest_ns = std::min(shortest_ns, duration_ns);
    longest_ns = std::max(longest_ns, duration_ns);
  }
  void add(const DurationStats& other) {
    count += other.count;
    total_ns += other.total_ns;
    shortest_ns = std::min(shortest_ns, other.shortest_ns);
    longest_ns = std::max(longest_ns, other.longest_ns);
  }
};

// Total time of each device, for the ratios of its rows.
class DeviceTotals {
 public:
  void add(std::int64_t device, const DurationStats& times) { totals_[device] += times.total_ns; }
  std::string ratio(std::int64_t device, const DurationStats& times) const {
    return format_percent(times.total_ns, totals_.at(device), 3);
  }

 private:
  std::map<std::int64_t, int128> totals_;
};

// Returns the number of all-reduces of the iteration with the most; each row of step_trace has that
// many pairs of cells. Throws db.damaged() if the table would be far larger than its source rows.
std::int64_t most_reduces(const Database& db);

// Reads the all-reduces of all iterations in one pass.
class Reduces {
 public:
  // `end_of_sql`: conditions (" AND …") and the ORDER BY: the caller's order of `iteration`, then
  // the order of the all-reduces (`part`) of an iteration.
  Reduces(const Database& db, std::string_view end_of_sql);

  // Calls take(start_ns, end_ns) for each all-reduce of the iteration. This or skip() must be
  // called for each iteration, in the order of `end_of_sql`.
  template <typename Take>
  void for_each(std::int64_t iteration_id, const Take& take) {
    for (; has_row_ && read_.integer(0) == iteration_id; has_row_ = read_.step())
      take(read_.maybe_integer(1), read_.maybe_integer(2));
  }
  void skip(std::int64_t iteration_id) {
    for_each(iteration_id, [](auto, auto) {});
  }

 private:
  Statement read_;
  bool has_row_;
};

// The cells from Count to Ratio(%).
inline void write_times(RowBuilder& out, const DurationStats& times, const std::string& mean_us,
                        const std::string& ratio) {
  out.number(times.count);
  out.number(trimmed3(times.total_ns, 1000));
  out.number(trimmed3(times.shortest_ns, 1000));
  out.number(mean_us);
  out.number(trimmed3(times.longest_ns, 1000));
  out.number(ratio);
}

}  // namespace msprof::cann
