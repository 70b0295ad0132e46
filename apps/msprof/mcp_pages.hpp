// Pages of the manual in the program, for `msprof mcp`.
#pragma once

#include <string_view>
#include <vector>

namespace msprof {

struct ManualPage {
  std::string_view name;  // "query.md"
  std::string_view help;
  std::string_view text;  // Markdown
};

const std::vector<ManualPage>& manual_pages();

}  // namespace msprof
