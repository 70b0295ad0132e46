#include "collect/cann/collector_values.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace msprof {

const std::vector<std::string>& core_metrics() {
  static const std::vector<std::string> names = {
      "ArithmeticUtilization",
      "PipeUtilization",
      "Memory",
      "MemoryL0",
      "MemoryUB",
      "ResourceConflictRatio",
      "L2Cache",
      "PipelineExecuteUtilization",
      "MemoryAccess",
  };
  return names;
}

bool are_custom_metrics(std::string_view value) {
  if (!value.starts_with(kCustomMetrics)) return false;
  const auto events = split(value.substr(kCustomMetrics.size()), ',');
  return events.size() <= kMaxCoreEvents &&
         std::all_of(events.begin(), events.end(), [](std::string_view event) {
           const bool is_hex = event.starts_with("0x") || event.starts_with("0X");
           if (is_hex) event.remove_prefix(2);
           const std::string_view digits = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
           return !event.empty() && event.find_first_not_of(digits) == std::string_view::npos;
         });
}

bool is_plain_path(std::string_view path) {
  return std::none_of(path.begin(), path.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F ||
           std::string_view("\"'\\%><|&$;`").find(c) != std::string_view::npos;
  });
}

}  // namespace msprof
