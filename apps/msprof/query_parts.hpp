// The parts of `msprof query`: facts about captures, answers to SQL, and what can be asked.
#pragma once

#include <optional>
#include <string>

#include "msprof/pipeline.hpp"

namespace msprof {

struct QueryArguments {
  CaptureOptions capture;
  std::string sql;
  std::string sql_file;
  std::optional<std::string> format;  // "table", "csv" or "json"
  std::optional<double> timeout_seconds;
  std::optional<long> limit;
  bool json = false;
  bool schema = false;
};

// What the captures are.
Exit tell_facts(const QueryArguments& arguments);
// What `sql` says about the captures.
Exit answer_sql(const QueryArguments& arguments, const std::string& sql);
// The views, tables, columns and units that SQL can name.
Exit print_query_schema(const QueryArguments& arguments);

}  // namespace msprof
