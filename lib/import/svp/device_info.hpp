// Reads the facts about a device in info.json.N. Used by the info_json kind and by the choice and
// the search of layouts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace msprof::svp {

// Returns the object DeviceInfo, merged from its list; null if the text is not JSON. Throws
// Error(partial_data) if the file cannot be read.
nlohmann::json read_device_info(const std::filesystem::path& path);
// Parses the text of the file.
nlohmann::json parse_device_info(std::string text);

// Returns the text value of a key; empty if there is none.
std::string text_in(const nlohmann::json& info, const char* key);

// Returns the core clock in hertz; nullopt if the file has no usable value.
std::optional<std::int64_t> parse_frequency(const nlohmann::json& info);

}  // namespace msprof::svp
