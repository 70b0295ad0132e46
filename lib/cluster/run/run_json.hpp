// JSON that processes of a run leave for each other in files.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.hpp"

namespace msprof::cluster {

// What `parse` makes of a JSON text. `name`: of the file, for the Error(partial_data) that a text
// or a value gives which is not as it should be.
template <typename Parse>
auto parse_json(const std::string& text, const std::string& name, Parse&& parse) {
  try {
    return parse(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    throw Error(Exit::partial_data, fmt::format("{} is damaged: {}", name, error.what()));
  }
}

}  // namespace msprof::cluster
