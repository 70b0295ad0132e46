// Finds all captures below a folder, cluster results, and the ranks that a framework assigned. Used
// by `list`, `follow`, `mcp`, newest_capture() and the capture search of a cluster.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/interrupt.hpp"
#include "session/session.hpp"

namespace msprof {

// A folder that is named like a capture but is not one, or that cannot be read.
struct SkippedFolder {
  std::filesystem::path folder;
  std::string reason;        // a sentence with the path
  bool is_unlisted = false;  // true: may contain captures that were not found
};

struct CapturesBelow {
  std::vector<FoundCapture> captures;
  std::vector<SkippedFolder> skipped;
  std::vector<std::filesystem::path> cluster_files;  // paths of files called cluster.db
  bool is_whole = true;                              // false: stopped at the folder limit
};

// Throws Error(nothing_to_do) if `folder` is not a folder, Error(partial_data) if that is unknown.
void check_search_folder(const std::filesystem::path& folder);

// Searches `folder` and its subfolders, up to 12 levels deep and 200,000 folders. Skips hidden
// folders, symbolic links and the contents of captures. Results are in path order. Calls `check`
// in each folder; it throws to end the search.
CapturesBelow walk_captures(const std::filesystem::path& folder,
                            const std::function<void()>& check = interrupt::check);

// Returns the rank recorded in a capture; empty if it records no rank or several.
std::optional<std::int64_t> find_rank(const Session& session);

// Returns the rank from profiler_info_<rank>.json in the *_ascend_pt or *_ascend_ms folder that
// contains the capture; empty if that file is missing or there are several. Throws
// Error(partial_data) if the folder cannot be listed.
std::optional<std::int64_t> find_framework_rank(const std::filesystem::path& capture);

}  // namespace msprof
