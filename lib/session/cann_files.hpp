// Parses raw file names and reads the info files of a host or device folder of a CANN capture.
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

struct CannFileName {
  // Kind of data in the file: "api_event", "task_track", "hash_dic", "stars_soc.data",
  // "DATA_PREPROCESS.AICPU", "capture_op_info.variable". Host stems omit the class and the tag.
  std::string stem;
  bool is_unaging = false;  // not deleted during the run; host files only
  std::optional<std::int64_t> device;
  std::int64_t slice = 0;
};

// Parses a file name without ".done". Returns nullopt if it is not the name of a slice of raw data.
std::optional<CannFileName> parse_data_name(std::string_view name);

// Parses a file name of a JOB folder in any of the three historical styles. Returns nullopt if the
// file is not raw data.
// Source: cann5_classic.md 2.
std::optional<CannFileName> parse_classic_name(std::string_view name);

// True for companion files, which never hold data: ".done", ".complete", ".zip", ".join".
bool is_companion(std::string_view name);

struct CannPartFiles {
  Info info;
  bool has_info_json = false;
  bool has_sample_json = false;
  std::optional<StartLog> host_start;
  std::optional<StartLog> device_start;
  std::optional<CollectionTime> begin;
  std::optional<CollectionTime> end;
};

// Called before each file of the capture is read; the file is skipped if it returns false.
using TrackFile = std::function<bool(const std::filesystem::path& path, const std::string& name)>;

// Reads the info files of the folder called `name` ("host", "device_0"); `names` are its entries.
// Adds a finding for each file that is broken or present twice; does not report missing files. With
// `is_cann5`, host_start.log may omit the host counter.
CannPartFiles read_part_files(const std::filesystem::path& folder,
                              const std::vector<std::string>& names, const std::string& name,
                              std::optional<std::int64_t> device, const TrackFile& track,
                              std::vector<SessionFinding>& findings, bool is_cann5 = false);

// True for raw file names that only CANN 5 hosts wrote, into device folders. Source:
// cann5_classic.md 1.
bool is_cann5_name(std::string_view name);

// True for `base` and for `base` with a number: "info.json", "info.json.0".
bool is_info_file(std::string_view name, std::string_view base);
// True for info files and their companions.
bool is_info_file_name(std::string_view name);

}  // namespace msprof::cann
