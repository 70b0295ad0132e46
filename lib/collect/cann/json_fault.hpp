// Where a JSON object is broken and what is missing there, in words. For texts that people type;
// whether a text is JSON is decided by the parser, not here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace msprof {

struct JsonFault {
  std::size_t at = 0;  // byte of the text
  std::string what;    // "the quote before task_trace is missing"
};

// The first fault of an object; nothing where this reader finds none.
std::optional<JsonFault> find_json_fault(std::string_view text);

}  // namespace msprof
