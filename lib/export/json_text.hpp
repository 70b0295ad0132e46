// Text and numbers as JSON, for the writers that stream and for every --json document.
//
// JavaScript, and most other readers, make a double of a number. What a double cannot hold is a
// string of the same digits, so that nothing is lost. Only traces keep numbers, as viewers want.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace msprof {

// Appends `text` in quotes, escaped; invalid UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);
std::string json_string(std::string_view text);

// Returns whether a double holds it: integers up to 2^53, decimals that read back as the same
// digits.
bool fits_double(std::int64_t value);
bool fits_double(std::string_view digits);

// Appends a number, or the string of its digits where a double cannot hold it.
void append_json_number(std::string& out, std::int64_t value);
void append_json_number(std::string& out, std::string_view digits);

}  // namespace msprof
