// The style sheet and the script of the report, held as text, with their hashes for its
// Content-Security-Policy. For html_report().
#pragma once

#include <string_view>

namespace msprof::html {

struct Asset {
  std::string_view text;
  std::string_view sha256;  // 64 hexadecimal digits, of `text`
};

extern const Asset kStyle;
extern const Asset kScript;

}  // namespace msprof::html
