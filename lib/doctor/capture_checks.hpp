// Checks after a run: what a capture holds, what is wrong with it, and why a product is missing.
// For `msprof doctor -dir`. Nothing is written into the capture.
#pragma once

#include <filesystem>

#include "doctor/check.hpp"

namespace msprof {

// Takes in `products` the folder that may hold the store, sqlite/msprof.db: the capture itself, or
// --output. Where that store is missing, outdated or of another version the raw files are read
// into a temporary one. Throws nothing but Error(interrupted).
void check_capture(CheckList& list, const std::filesystem::path& folder,
                   const std::filesystem::path& products);

}  // namespace msprof
