// In old captures, finds missing slices, and files whose size differs from the size in `.done`.
// Source: cann5_classic.md 2.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "session/cann_session.hpp"

namespace msprof::cann {

// Returns the length in bytes recorded in a `.done` file; nullopt if it has no length.
using DoneLength =
    std::function<std::optional<std::int64_t>(const std::filesystem::path&, const std::string&)>;

// Checks the raw files of `session`, which must be in reading order.
std::vector<SessionFinding> check_slices(const CannSession& session, const DoneLength& done_length);

// Reports `.done` files with a length whose data file is missing. `prefix` is prepended to the file
// names in findings.
std::vector<SessionFinding> check_lone_done(const std::filesystem::path& folder,
                                            const std::vector<std::string>& names,
                                            const std::string& prefix,
                                            const DoneLength& done_length);

}  // namespace msprof::cann
