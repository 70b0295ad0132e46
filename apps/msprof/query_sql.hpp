// `msprof query SQL`. For the verb query.
#pragma once

#include <optional>
#include <string>

#include "msprof/pipeline.hpp"

namespace msprof {

struct QueryArguments {
  CaptureOptions capture;
  std::string sql;
  std::string sql_file;
  std::string table;
  std::optional<std::string> format;  // "table", "csv", "json" or "columns"
  std::optional<double> timeout_seconds;
  std::optional<long> limit;
  std::optional<long> offset;  // rows to skip
  bool json = false;
  bool excel = false;  // implies format "csv"
  bool schema = false;
};

// Answers `sql`, or prints the table named in `arguments`.
Exit answer_sql(const QueryArguments& arguments, const std::string& sql);

}  // namespace msprof
