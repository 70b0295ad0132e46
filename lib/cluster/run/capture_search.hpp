// Finds the captures of many ranks below several folders, regardless of the tool that wrote them.
// Used by `msprof cluster`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace msprof::cluster {

struct ClusterCapture {
  std::filesystem::path folder;  // absolute, symbolic links resolved
  // Rank in a framework's profiler_info_<rank>.json; set only if the capture records no rank.
  std::optional<std::int64_t> rank;
};

struct SearchProblem {
  std::filesystem::path path;
  std::string reason;
  bool is_absent = false;  // there is no such folder, so no capture was missed
};

struct CaptureSearch {
  std::vector<ClusterCapture> captures;  // sorted by path, without duplicates
  std::vector<SearchProblem> problems;
};

// Finds PROF_… folders at any depth below `folders`, and members of `folders` that are captures
// with another name. Includes PROF_… folders that cannot be read: importing them reports the error.
// Follows symbolic links to folders and visits each folder once.
CaptureSearch search_captures(const std::vector<std::filesystem::path>& folders);

// Returns the rank of a capture, as recorded in it or given by the framework. Empty if it is
// unknown, if its devices have several ranks, or if the folder is not a capture.
std::optional<std::int64_t> find_known_rank(const ClusterCapture& capture);

}  // namespace msprof::cluster
