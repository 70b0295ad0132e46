// as_json(): converts optional values to JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

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

}  // namespace msprof
