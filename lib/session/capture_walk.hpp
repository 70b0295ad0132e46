// Every capture below a folder, and what else stands for captures there: results of clusters, ranks
// that a framework gave. For `list`, for newest_capture(), and for the search of a cluster's
// captures.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "session/session.hpp"

namespace msprof {

// A folder that is named like a capture, or that cannot be read.
struct SkippedFolder {
  std::filesystem::path folder;
  std::string reason;        // a sentence with the path
  bool is_unlisted = false;  // captures in it, if any, were not found
};

struct CapturesBelow {
  std::vector<FoundCapture> captures;
  std::vector<SkippedFolder> skipped;
  std::vector<std::filesystem::path> cluster_files;  // called cluster.db
  bool is_whole = true;                              // false: there were too many folders
};

// Walks `folder` and the folders below it, to any depth that people use. Hidden folders, links and
// what lies in a capture are not looked at; in order of paths.
CapturesBelow walk_captures(const std::filesystem::path& folder);

// The rank of a training job that a capture names; empty where it names none, or several.
std::optional<std::int64_t> rank_of(const Session& session);

// The rank that a framework gave a capture: of the one profiler_info_<rank>.json in the folder
// *_ascend_pt or *_ascend_ms that holds it. Throws Error(partial_data) where that cannot be listed.
std::optional<std::int64_t> framework_rank(const std::filesystem::path& capture);

}  // namespace msprof
