// Why a store at hand cannot be used as it is. For check_capture().
#pragma once

#include <filesystem>
#include <string>

#include "doctor/check.hpp"

namespace msprof {

// Adds a check "store": not there yet, made from other files, by another version, or damaged.
// `damaged`: it could not be read to its end. `capture` is for the remedy.
void check_store(CheckList& list, const std::filesystem::path& store, bool damaged,
                 const std::string& capture);

}  // namespace msprof
