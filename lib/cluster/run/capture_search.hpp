// The captures of many ranks below some folders, whoever made them. For `msprof cluster`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace msprof::cluster {

struct FoundCapture {
  std::filesystem::path folder;  // absolute, without links
  // What a framework's profiler_info_<rank>.json says where the capture itself names no rank.
  std::optional<std::int64_t> rank;
};

// A place that could not be searched.
struct SearchProblem {
  std::filesystem::path path;
  std::string reason;
};

struct CaptureSearch {
  std::vector<FoundCapture> captures;  // by path, each once
  std::vector<SearchProblem> problems;
};

// Finds the folders PROF_… in any depth below `folders`, and those of `folders` that are captures
// under another name. A folder PROF_… that cannot be read as a capture is among them: whoever
// imports it says what is wrong. Links to folders are followed, each folder is entered once.
CaptureSearch search_captures(const std::vector<std::filesystem::path>& folders);

// The rank of a capture, by itself or by its framework; empty where nobody says, where its devices
// have several, and for what is no capture.
std::optional<std::int64_t> known_rank(const FoundCapture& capture);

}  // namespace msprof::cluster
