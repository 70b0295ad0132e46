// Arrival of results: moves complete results of a run to their final names in the output folder,
// never over existing files. Used by the collector and the hosts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.hpp"

namespace msprof {

// Returns true if a folder named by an application can be used as a capture: JOB… or PROF_…, with
// only letters, digits, '_' and '-'.
bool is_capture_name(std::string_view name);

// Removes everything below `root` that is neither a file nor a folder; returns how many were
// removed.
std::uint64_t drop_special_files(const std::filesystem::path& root);
std::uint64_t tree_bytes(const std::filesystem::path& root);
// Returns true if `capture`, or its host or device folder, contains a non-empty folder data/.
bool has_data_folder(const std::filesystem::path& capture);

// Compares each `<file>.done` of a capture that states a size ("file_len:N", "filesize:N") with the
// file; returns a sentence for each mismatch.
std::vector<std::string> check_done_files(const std::filesystem::path& capture);

// Thresholds for warnings. A board records at most 2 MB per second, so at least half a minute is
// left at the first threshold, and two seconds at the second.
inline constexpr std::uint64_t kLittleSpaceBytes = 64'000'000;
inline constexpr std::uint64_t kNoSpaceBytes = 4'000'000;

// Free space of the file system of `folder`; empty if unknown.
std::optional<std::uint64_t> read_free_bytes(const std::filesystem::path& folder);

// A folder inside the output folder for results that are not complete yet. The destructor removes
// it. If msprof is killed, the next msprof removes the folder, after publishing the captures that
// applications recorded into it.
class Staging {
 public:
  // Creates `output` if needed; throws Error(cannot_write) naming it and --output.
  explicit Staging(const std::filesystem::path& output);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  const std::filesystem::path& path() const { return folder_.path(); }

  // Moves `source`, a file or folder below path(), to `name` in the output folder, or "name~2",
  // "name~3", … if that exists. Returns the final path.
  std::filesystem::path publish(const std::filesystem::path& source, const std::string& name) const;

 private:
  std::filesystem::path output_;
  TemporaryFolder folder_;
};

}  // namespace msprof
