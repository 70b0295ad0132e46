// Checks after a run: the contents of a capture, its problems, and why a product is missing. Used
// by `msprof doctor -dir`. Writes nothing to the capture.
#pragma once

#include <filesystem>

#include "doctor/check.hpp"

namespace msprof {

// `products` is the folder that may contain the store, sqlite/msprof.db: the capture itself, or
// --output. If the store is missing, outdated or from another version, the raw files are read into
// a temporary one. Throws only Error(interrupted).
void check_capture(CheckList& list, const std::filesystem::path& folder,
                   const std::filesystem::path& products);

}  // namespace msprof
