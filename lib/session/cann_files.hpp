// The files of the host or a device folder of a CANN capture: the names of raw files, and the info
// files, found and read. For CannSession and the CANN kinds.
// Source: cann_host.md 1.2, 1.6; cann_device.md 2.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/cann_info.hpp"
#include "session/session.hpp"

namespace msprof::cann {

struct FileName {
  // Kind of data in the file: "api_event", "task_track", "hash_dic", "stars_soc.data",
  // "DATA_PREPROCESS.AICPU", "capture_op_info.variable"; host words without class and tag.
  std::string stem;
  bool is_unaging = false;  // kept for the whole run; host files only
  std::optional<std::int64_t> device;
  std::int64_t slice = 0;
};

// Reads a name without ".done"; empty for one that is no slice of raw data.
std::optional<FileName> parse_data_name(std::string_view name);

// Reads a name of a JOB folder, in any of the three styles of its time; empty for no raw data.
// Source: cann5_classic.md 2.
std::optional<FileName> parse_classic_name(std::string_view name);

// A companion that is never data: ".done", ".complete", ".zip".
bool is_companion(std::string_view name);

// The info files of the host or a device folder, found and read.
struct CannPartFiles {
  Info info;
  bool has_info_json = false;
  bool has_sample_json = false;
  std::optional<StartLog> host_start;
  std::optional<StartLog> device_start;
  std::optional<CollectionTime> begin;
  std::optional<CollectionTime> end;
};

// Called with a file of the capture before it is read: false leaves it alone.
using TrackFile = std::function<bool(const std::filesystem::path& path, const std::string& name)>;

// Takes the names in the part's folder, and its own: "host", "device_0". Files that are broken, or
// there twice, are findings; what is missing is for the caller to judge. `is_cann5`: host_start.log
// need not have the host's counter.
CannPartFiles read_part_files(const std::filesystem::path& folder,
                              const std::vector<std::string>& names, const std::string& name,
                              std::optional<std::int64_t> device, const TrackFile& track,
                              std::vector<SessionFinding>& findings, bool is_cann5 = false);

// True for the name of a raw file that only a host of CANN 5 wrote, in the folder of a device.
// Source: cann5_classic.md 1.
bool is_cann5_name(std::string_view name);

// True if a file of a part belongs to the info files, companions included.
bool is_info_file_name(std::string_view name);

}  // namespace msprof::cann
