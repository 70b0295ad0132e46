// Text as JSON, for the writers that stream.
#pragma once

#include <string>
#include <string_view>

namespace msprof {

// Appends `text` in quotes, escaped; invalid UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);
std::string json_string(std::string_view text);

}  // namespace msprof
