// Locates and describes the syntax error in a JSON object typed by a user. The JSON parser, not
// this code, decides whether a text is valid.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace msprof {

struct JsonFault {
  std::size_t at = 0;  // byte offset in the text
  std::string what;    // "the quote before task_trace is missing"
};

// Returns the first fault of an object; nullopt if this code finds none.
std::optional<JsonFault> find_json_fault(std::string_view text);

}  // namespace msprof
