// Rules that are SQL. For advice.cpp.
#pragma once

#include <optional>

#include "analyze/advise/advice.hpp"
#include "query/query_db.hpp"

namespace msprof {

struct SqlAnswer {
  bool has_data = true;
  std::int64_t count = 0;  // rows
  std::optional<double> time_us;
  std::optional<double> share_percent;
  std::vector<Evidence> evidence;
};

// Runs `needs` and `sql` of the rule with its thresholds bound: ":share_percent" in the text.
// Throws Error(usage) where they are not understood.
SqlAnswer ask(const QueryDb& db, const Rule& rule);

}  // namespace msprof
