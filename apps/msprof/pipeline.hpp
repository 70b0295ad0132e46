// What several verbs do alike: bring a capture into its store, write its products.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"

namespace msprof {

// For `collect --all`: imports `capture`, writes every timeline and every summary (csv) into it.
// Prints the verdict and the files on stderr as import and export do; `report` (may be null) gets
// {"import": {...}, "exported": ["path", ...]}. Returns the gravest exit code; throws Error only
// for what ends a command.
Exit import_and_export(const std::filesystem::path& capture, nlohmann::json* report);

}  // namespace msprof
