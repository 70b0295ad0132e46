// What came home while an earlier run recorded, found again: together with what its board still has
// it is the recording. For SshHost, which goes on with that run.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "board/link.hpp"

namespace msprof {

// What the board's file .drained says, unverified. Both are empty where it makes no sense.
struct DrainPlace {
  std::string machine;
  std::filesystem::path folder;  // absolute, of that machine
};
// Parses "MACHINE:FOLDER". A folder counts only if it is named after `run`.
DrainPlace parse_drain_place(std::string_view text, const std::string& run);
// That text for a folder of this machine.
std::string drain_place_text(const std::filesystem::path& folder);

// The name of the folder in an output folder.
std::string drained_folder_name(const std::string& run);
// True for a folder of that name with a journal, in which nothing is a link and, with `only_own`,
// everything belongs to this user.
bool is_drained_folder(const std::filesystem::path& folder, const std::string& run, bool only_own);
// In `output`, or where `place` says if that is this machine; empty: it is not here.
std::filesystem::path find_drained_folder(const DrainPlace& place, const std::string& run,
                                          const std::filesystem::path& output);
// Files of the folder of which less is here than its journal says, a sentence each. From then on
// the board's bytes count behind what is here.
std::vector<std::string> cut_to_what_is_here(const std::filesystem::path& folder);
// Likewise, but the journal stays as it is.
std::vector<std::string> missing_from(const std::filesystem::path& folder);

struct DrainedRun {
  std::filesystem::path folder;  // to go on with; empty: there is none
  std::string gap;               // sentence on what is not here; empty: all is
};
// Looks at what the board says of the run of `link`, and changes nothing there. Throws
// Error(nothing_to_do) where a part of the recording is neither there nor here, unless `force`.
DrainedRun find_drained_run(BoardLink& link, const std::filesystem::path& output, bool force);

// Names the files below `folder` in which blocks of the drain are zeros, a sentence each.
std::vector<std::string> name_gaps(const std::filesystem::path& folder);

}  // namespace msprof
