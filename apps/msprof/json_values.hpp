// as_json(): converts optional values and cells of tables to JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/cell.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"

namespace msprof {

// Returns null if `value` is empty.
template <typename Value>
nlohmann::ordered_json as_json(const std::optional<Value>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

// Returns `text` as valid UTF-8; null if it is empty.
inline nlohmann::ordered_json as_json(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(valid_utf8(text));
}

inline nlohmann::ordered_json as_json(const std::vector<std::string>& texts) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::string& text : texts) list.push_back(valid_utf8(text));
  return list;
}

inline nlohmann::ordered_json as_json(const Cell& cell) {
  const std::string text = cell_text(cell);
  if (!cell.is_number() || cell.is_time || !fits_double(text)) return valid_utf8(text);
  return nlohmann::ordered_json::parse(text);
}

}  // namespace msprof
