// RunFolder: the private folder of one run under the user's cache folder, held by a lock. For the
// local host.
#pragma once

#include <cstddef>
#include <filesystem>

#include "base/file_reader.hpp"

namespace msprof {

// XDG_CACHE_HOME, else .cache in the user's home folder.
std::filesystem::path user_cache_folder();

// <cache>/msprof/runs
std::filesystem::path runs_folder(const std::filesystem::path& cache);

// The lock goes with the process that holds it, however that ends; and with the child that watches
// the application, so that a folder in use is never taken for a stale one.
class RunFolder {
 public:
  // Makes a fresh folder below `runs` for a run of `project`, which its lock names; throws
  // Error(cannot_write) naming XDG_CACHE_HOME.
  RunFolder(const std::filesystem::path& runs, const std::filesystem::path& project);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // How many other runs of the same project are under way. Of two that start at once at least one
  // sees the other.
  std::size_t others() const;
  // Leaves the folder for the next run to remove.
  void keep() { kept_ = true; }

 private:
  std::filesystem::path path_;
  std::filesystem::path project_;
  std::filesystem::path lock_path_;
  FileDescriptor lock_;
  bool kept_ = false;
};

// Removes the run folders below `runs` that no process holds; where the file system has no locks,
// those to which nobody wrote for 24 hours. Returns their number.
int remove_stale_runs(const std::filesystem::path& runs);

}  // namespace msprof
