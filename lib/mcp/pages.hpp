// Cuts a large JSON document into pages. For the answers of a server.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace msprof::mcp {

// Returns the text of `value`, with invalid UTF-8 replaced.
std::string json_text(const nlohmann::ordered_json& value);

// Bytes of `json`, the text of a value, in an answer: it appears as JSON, and as a quoted text.
std::size_t answer_bytes(std::string_view json);

struct Page {
  nlohmann::ordered_json document = nlohmann::ordered_json::object();
  std::optional<std::size_t> next;  // position of the next page; empty: this is the last one
};

// The position of a page counts the values of the document that are not divided: rows and other
// values of up to 400 bytes. Returns those from `from` on that need at most `most_bytes` in an
// answer, in the arrays and objects that contain them. If an object continues from an earlier page,
// it repeats the members that identify it, such as "name" and "columns". A text that does not fit
// into a page is cut.
Page cut_page(const nlohmann::ordered_json& document, std::size_t from, std::size_t most_bytes);

}  // namespace msprof::mcp
