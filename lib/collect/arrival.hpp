// Arrival of results: what a run left gets its final names in the output folder, each
// only when whole, and never over something that is there. For the collector and the hosts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.hpp"

namespace msprof {

// True for a name that may be taken from an application for a folder of ours: JOB… or PROF_…, made
// of letters, digits, '_' and '-'.
bool is_capture_name(std::string_view name);

// Removes everything below `root` that is neither a file nor a folder; returns how many.
std::uint64_t drop_special_files(const std::filesystem::path& root);
std::uint64_t tree_bytes(const std::filesystem::path& root);
// True if `capture`, or the host or a device in it, holds a folder data/ with something in it.
bool has_data_folder(const std::filesystem::path& capture);

// Compares every `<file>.done` of a capture that has a size ("file_len:N", "filesize:N") with the
// file; a sentence for each that differs.
std::vector<std::string> check_done_files(const std::filesystem::path& capture);

// Thresholds: a second of recording is at most 2 MB on a board, so a minute or two of it, and next
// to nothing.
inline constexpr std::uint64_t kLittleSpaceBytes = 64'000'000;
inline constexpr std::uint64_t kNoSpaceBytes = 4'000'000;

// Free space of the file system that holds `folder`; empty if unknown.
std::optional<std::uint64_t> free_bytes_of(const std::filesystem::path& folder);

// A folder inside the output folder where results become whole before they get their names. Gone
// when it is destroyed; what a killed msprof left is removed by the next one, but for what an
// application recorded into it, which gets its name.
class Staging {
 public:
  // Creates `output` where needed; throws Error(cannot_write) naming it and --output.
  explicit Staging(const std::filesystem::path& output);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  const std::filesystem::path& path() const { return folder_.path(); }

  // Gives `source`, a file or folder below path(), the name `name` in the output folder, or
  // "name~2", "name~3", … where that is taken. Returns the final path.
  std::filesystem::path publish(const std::filesystem::path& source, const std::string& name) const;

 private:
  std::filesystem::path output_;
  TemporaryFolder folder_;
};

}  // namespace msprof
