// TableScan: one pass over a summary table for all rules about its rows. For advice and for
// prof_rule_<device>.json.
// A million rows take about a second, so no rule gets a pass of its own and no row is kept.
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
#include "export/export_scope.hpp"

namespace msprof {

// Rows of one name that matched.
struct MatchedOp {
  std::string name;
  std::int64_t count = 0;
  double time_us = 0;  // of all of them
  struct Cell {
    double sum = 0;
    std::int64_t count = 0;
    std::string text;  // of the first row, where it is no number
  };
  std::vector<Cell> cells;  // one a field of Rule::evidence
};

// Matches of one rule.
struct RuleMatches {
  std::int64_t count = 0;      // matching rows, or sequences
  std::int64_t rows = 0;       // all
  std::int64_t documents = 0;  // of the table, with a match
  double time_us = 0;          // of the matches
  double all_time_us = 0;      // of all rows
  double share_of = 0;
  double share_in = 0;
  // The table's times are means of an execution, not times of single tasks.
  bool is_mean = false;
  std::map<std::string, std::int64_t> patterns;  // count of each
  std::vector<MatchedOp> ops;                    // in order of first match
  std::string no_data;                           // the field that no row has; empty: there is data
  std::string modelled;  // the field that a model gave, so that nothing follows; empty: none
};

// `part` in percent of `whole`; 0 if `whole` is 0.
double percent(double part, double whole);

// True if the matches are enough for the rule.
bool is_met(const Rule& rule, const RuleMatches& matches);

struct TableScanResult {
  bool has_table = false;  // false: this capture has no row of it
  struct Group {
    std::string device;  // as in the table; empty: all together
    std::vector<RuleMatches> matches;
  };
  std::vector<Group> groups;
  std::map<std::string, ComputedFacts> facts;  // by device
};

struct TableScanOptions {
  ExportScope scope{};
  bool by_device = false;  // a group a device; without it one for all
  bool facts = false;
};

// Takes in `rules` those with a condition on rows of `table`; the matches are in their order.
TableScanResult scan_table(const Database& db, std::string_view table,
                           const std::vector<const Rule*>& rules, const TableScanOptions& options);

// The same of a table of this capture that another one writes, with its scope, as one document into
// this sink; at its end() `on_end` gets the result. `db` outlives it.
std::unique_ptr<RowSink> make_table_scan(const Database& db, std::string_view table,
                                         const std::vector<const Rule*>& rules,
                                         const TableScanOptions& options,
                                         std::function<void(TableScanResult)> on_end);

}  // namespace msprof
