// What import finds wrong or missing, in Chinese; in English it is the `meaning` of findings.def.
// For report_page().
#pragma once

#include <string_view>

namespace msprof::report {

// `id` as import_log has it; empty for one that an import does not end partial or without for.
std::string_view chinese_finding(std::string_view id);

}  // namespace msprof::report
