// Reads metadata of a store of any version, for listing many stores. A published file is never
// written again, so no lock or journal is needed.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

// Returns a value of `meta` in a store of any version; empty if there is no such store.
std::string read_any_meta(const std::filesystem::path& path, std::string_view key);
// Returns the values of several keys, in order; an empty vector if there is no such store.
std::vector<std::string> read_any_metas(const std::filesystem::path& path,
                                        std::span<const std::string_view> keys);

}  // namespace msprof
