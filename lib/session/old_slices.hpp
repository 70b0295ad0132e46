// Slices that an old capture lacks, and files of another length than their `.done` says.
// For CannSession and ClassicSession. Source: cann5_classic.md 2.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "session/cann_session.hpp"

namespace msprof::cann {

// The length that a `.done` says, in bytes; empty where it says none.
using DoneLength =
    std::function<std::optional<std::int64_t>(const std::filesystem::path&, const std::string&)>;

// Of the raw files, which are in their order.
std::vector<SessionFinding> check_slices(const CannSession& session, const DoneLength& length_of);

// What the `.done` files of a folder with these names say was written, and is not there; `prefix`
// is what their names begin with in a finding.
std::vector<SessionFinding> check_lone_done(const std::filesystem::path& folder,
                                            const std::vector<std::string>& names,
                                            const std::string& prefix, const DoneLength& length_of);

}  // namespace msprof::cann
