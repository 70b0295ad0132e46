// Parses JSON files exchanged between processes of a run.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.hpp"

namespace msprof::cluster {

// Returns the result of `parse` for a JSON text. Throws Error(partial_data) with the file's `name`
// if the text or a value is invalid.
template <typename Parse>
auto parse_json(const std::string& text, const std::string& name, Parse&& parse) {
  try {
    return parse(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    throw Error(Exit::partial_data, fmt::format("{} is damaged: {}", name, error.what()));
  }
}

}  // namespace msprof::cluster
