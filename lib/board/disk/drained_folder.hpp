// Finds files that were drained during an earlier run. Together with the data still on the board
// they form the recording. Used by SshHost, which continues that run.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "board/session/link.hpp"

namespace msprof {

// Content of the board's file .drained, unverified. Both members are empty if it is invalid.
struct DrainPlace {
  std::string machine;
  std::filesystem::path folder;  // absolute path on `machine`
};
// Parses "MACHINE:FOLDER". Accepts the folder only if it is named after `run`.
DrainPlace parse_drain_place(std::string_view text, const std::string& run);
// Formats "MACHINE:FOLDER" for a folder of this machine.
std::string drain_place_text(const std::filesystem::path& folder);

std::string drained_folder_name(const std::string& run);
// Returns true for a folder named after `run` that has a journal and no links and, with `only_own`,
// only files of this user.
bool is_drained_folder(const std::filesystem::path& folder, const std::string& run, bool only_own);
// Looks in `output`, then in `place` if that is on this machine. Returns an empty path if not
// found.
std::filesystem::path find_drained_folder(const DrainPlace& place, const std::string& run,
                                          const std::filesystem::path& output);
// Returns one sentence for each file that is shorter than its journal entry, and shortens the
// entry: the board's file is then authoritative after the local bytes.
std::vector<std::string> cut_to_what_is_here(const std::filesystem::path& folder);
// Same as above, but does not change the journal.
std::vector<std::string> missing_from(const std::filesystem::path& folder);

struct DrainedRun {
  std::filesystem::path folder;  // folder to continue with; empty: none
  std::string gap;               // sentence about missing local data; empty: complete
};
// Finds the local folder with drained files of the run of `link`. Throws Error(nothing_to_do) if
// downloaded data is missing locally, unless `force`.
DrainedRun find_drained_run(BoardLink& link, const std::filesystem::path& output, bool force);

// Returns one sentence for each file below `folder` that contains all-zero drain blocks.
std::vector<std::string> name_gaps(const std::filesystem::path& folder);

}  // namespace msprof
