// Reads the file of --reports, a file of the vendor's tool that selects layers of the timeline:
// {"json_process": {"ascend": true, "hbm": false, …}} draws the entries that are true.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

// A name in such a file, and the layer for it.
struct ReportName {
  std::string_view name;
  std::string_view layer;
};
// Returns all names, in the vendor's order.
const std::vector<ReportName>& report_names();

// Returns the layers that the file selects, without duplicates. Throws Error(usage) if the file
// cannot be read or parsed, has an unknown name, or selects no layer.
std::vector<std::string> read_report_layers(const std::filesystem::path& file);

}  // namespace msprof
