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
  std::optional<std::string> format;  // "table", "csv" or "json"
  std::optional<double> timeout_seconds;
  std::optional<long> limit;
  bool json = false;
  bool excel = false;  // implies format "csv"
  bool schema = false;
};

Exit answer_sql(const QueryArguments& arguments, const std::string& sql);

}  // namespace msprof
