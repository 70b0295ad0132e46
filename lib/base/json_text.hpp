// Writes text and numbers as JSON, for the streaming writers and every --json document.
//
// JavaScript and most other readers convert a number to a double. A number that a double cannot
// hold is written as a string of its digits, so that no digit is lost; except in traces, where
// viewers expect numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace msprof {

// Appends `text`, quoted and escaped; invalid UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);
std::string json_string(std::string_view text);
// Returns true if `text` needs no escapes: its JSON is the text in quotes. May return false for
// such a text.
bool is_plain_json(std::string_view text);
// Same, and a cell of a CSV file is the text itself.
bool is_plain_cell(std::string_view text);

// Returns true if a double holds the number: integers up to 2^53, and decimals that read back as
// the same digits.
bool fits_double(std::int64_t value);
bool fits_double(std::string_view digits);

// Makes the number at the end of `out`, from `at` on, a string if a double cannot hold it.
void quote_long_number(std::string& out, std::size_t at);

}  // namespace msprof
