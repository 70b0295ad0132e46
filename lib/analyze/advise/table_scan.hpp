// Evaluates all rules about rows of a summary table in a single pass, because reading a million
// rows takes about a second. Does not keep rows. Used for advice and prof_rule_<device>.json.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/advise/facts.hpp"
#include "analyze/advise/rule.hpp"
#include "base/row_sink.hpp"
#include "export/scope/export_scope.hpp"

namespace msprof {

// Matching rows with the same name.
struct MatchedOp {
  std::string name;
  std::int64_t count = 0;
  double time_us = 0;  // of all these rows
  struct Cell {
    double sum = 0;
    std::int64_t count = 0;
    std::string text;  // from the first row, if not a number
  };
  std::vector<Cell> cells;  // one per field of Rule::evidence
};

struct RuleMatches {
  std::int64_t count = 0;      // matching rows, or sequences
  std::int64_t rows = 0;       // all rows of the table
  std::int64_t documents = 0;  // documents of the table with a match
  double time_us = 0;          // of the matches
  double all_time_us = 0;      // of all rows
  double share_of = 0;
  double share_in = 0;
  // Times in the table are means per execution, not times of single tasks.
  bool is_mean = false;
  std::map<std::string, std::int64_t> patterns;  // matches per pattern
  std::vector<MatchedOp> ops;                    // in order of first match
  std::string no_data;   // field without a value in any row; empty: there is data
  std::string modelled;  // modelled field that the rule depends on; empty: no such field
};

// Returns `part` in percent of `whole`; 0 if `whole` is 0.
double percent(double part, double whole);

// Returns true if the matches satisfy the group condition of the rule.
bool is_met(const Rule& rule, const RuleMatches& matches);

struct TableScanResult {
  bool has_table = false;  // false: the capture has no rows of this table
  struct Group {
    std::string device;  // as in the table; empty: all devices together
    std::vector<RuleMatches> matches;
  };
  std::vector<Group> groups;
  std::map<std::string, ComputedFacts> facts;  // by device
};

struct TableScanOptions {
  ExportScope scope{};
  bool is_by_device = false;  // one group per device instead of one for all
  bool facts = false;
};

// Scans `table` for `rules`, which must have conditions on its rows. Matches are in the order of
// `rules`.
TableScanResult scan_table(const Database& db, std::string_view table,
                           const std::vector<const Rule*>& rules, const TableScanOptions& options);

// Returns a sink that does the same while another job writes the table into it as a single
// document. `on_end` gets the result at end(). `db` must outlive the sink.
std::unique_ptr<RowSink> make_table_scan(const Database& db, std::string_view table,
                                         const std::vector<const Rule*>& rules,
                                         const TableScanOptions& options,
                                         std::function<void(TableScanResult)> on_end);

}  // namespace msprof
