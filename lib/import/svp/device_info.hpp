// What an info.json.N says about its device. For the kind of that file, and for the choice of a
// layout and the search for one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace msprof::svp {

// The object DeviceInfo, merged of its list; null where the text is not JSON. Throws
// Error(partial_data) where the file cannot be read.
nlohmann::json read_device_info(const std::filesystem::path& path);
// The same of the file's text.
nlohmann::json parse_device_info(std::string text);

// The text of a key; empty where it has none.
std::string text_in(const nlohmann::json& info, const char* key);

// The clock of the cores in hertz; empty where the file has none that can be used.
std::optional<std::int64_t> frequency_in(const nlohmann::json& info);

}  // namespace msprof::svp
