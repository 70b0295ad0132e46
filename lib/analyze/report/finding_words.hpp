// Chinese descriptions of import findings. The English ones are the `meaning` in findings.def.
#pragma once

#include <string_view>

namespace msprof::report {

// `id` as in import_log. Empty for findings that do not affect the verdict.
std::string_view chinese_finding(std::string_view id);

}  // namespace msprof::report
