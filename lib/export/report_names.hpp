// --reports: a file of the vendor's tool that says what goes into the timeline, as layers of ours.
// {"json_process": {"ascend": true, "hbm": false, …}}: what is true is drawn.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

// A name of such a file, and our layer for it.
struct ReportName {
  std::string_view name;
  std::string_view layer;
};
// In the vendor's order.
const std::vector<ReportName>& report_names();

// The layers that the file asks for, each once. Throws Error(usage), a sentence, for a file that
// cannot be read, has another form or a name that is none, and for one that asks for nothing.
std::vector<std::string> layers_of_reports(const std::filesystem::path& file);

}  // namespace msprof
