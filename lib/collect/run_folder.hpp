// RunFolder: the private, locked folder of one run under the user's cache folder. Used by the local
// host.
#pragma once

#include <cstddef>
#include <filesystem>

#include "base/file_reader.hpp"

namespace msprof {

// Returns XDG_CACHE_HOME, else .cache in the user's home folder.
std::filesystem::path user_cache_folder();

// Returns <cache>/msprof/runs.
std::filesystem::path runs_folder(const std::filesystem::path& cache);

// The folder's lock is released when the process that holds it ends, in whatever way. The
// supervisor of the application inherits it, so that a folder in use is never treated as stale.
class RunFolder {
 public:
  // Creates a folder below `runs` for a run of `project`, and writes the project into its lock
  // file; throws Error(cannot_write) naming XDG_CACHE_HOME.
  RunFolder(const std::filesystem::path& runs, const std::filesystem::path& project);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Number of other runs of the same project in progress. If two start at the same time, at least
  // one counts the other.
  std::size_t others() const;
  // Keeps the folder until the next run removes it.
  void keep() { is_kept_ = true; }

 private:
  std::filesystem::path path_;
  std::filesystem::path project_;
  std::filesystem::path lock_path_;
  FileDescriptor lock_;
  bool is_kept_ = false;
};

// Removes the run folders below `runs` that no process has locked; on file systems without locks,
// those unchanged for 24 hours. Returns their number.
int remove_stale_runs(const std::filesystem::path& runs);

}  // namespace msprof
