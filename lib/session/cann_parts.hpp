// CannPartFiles: the info files of the host or a device folder of a CANN capture, found and read.
// For CannSession.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "session/cann_info.hpp"
#include "session/session.hpp"

namespace msprof::cann {

struct CannPartFiles {
  Info info;
  bool has_info_json = false;
  bool has_sample_json = false;
  std::optional<StartLog> host_start;
  std::optional<StartLog> device_start;
  std::optional<CollectionTime> begin;
  std::optional<CollectionTime> end;
};

// What to do with a file of the capture before it is read: false leaves it alone.
using TrackFile = std::function<bool(const std::filesystem::path& path, const std::string& name)>;

// `name` is that of the part: "host", "device_0". Files that are broken, or there twice, are
// findings; what is missing is for the caller to judge.
CannPartFiles read_part_files(const std::filesystem::path& folder, const std::string& name,
                              std::optional<std::int64_t> device, const TrackFile& track,
                              std::vector<SessionFinding>& findings);

// Whether a file of a part belongs to the info files, companions included.
bool is_info_file_name(std::string_view name);

// The last name of a folder's path, also of "." and "PROF_…/".
std::string own_name(const std::filesystem::path& folder);

// Names in a folder, sorted; empty where it cannot be read.
std::vector<std::string> sorted_names(const std::filesystem::path& folder);

}  // namespace msprof::cann
