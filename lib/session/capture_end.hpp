// Decides whether the collection of a capture has ended, so that no more raw data will be written.
// Used by `msprof follow`.
#pragma once

#include <optional>
#include <string>

#include "session/session.hpp"

namespace msprof {

// Returns why the collection has not ended, as a phrase with the file or folder: "host has no
// end_info"; empty if it has ended. Marks of the end:
// - a run.json with the end of the run, which `collect` writes last;
// - PROF…: end_info in each host or device folder;
// - JOB… of a board: a `.done` for each file of records, and at least one such file;
// - JOB… of 2019 to 2021: end_info of a device, or a `.done` for each raw file.
// A capture that is still being copied can have all marks: the caller also checks that
// file_states() no longer change. Throws Error(partial_data) if a folder cannot be listed.
std::optional<std::string> why_unfinished(const Session& session);

}  // namespace msprof
