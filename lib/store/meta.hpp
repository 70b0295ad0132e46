// The values of the table `meta`: what a store says about its capture as a whole.
// For whoever reads a store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/database.hpp"

namespace msprof {

// Empty where there is no such key.
std::string read_meta(const Database& db, std::string_view key);
// The value as a whole decimal number; empty where there is none.
std::optional<std::int64_t> read_meta_integer(const Database& db, std::string_view key);

}  // namespace msprof
