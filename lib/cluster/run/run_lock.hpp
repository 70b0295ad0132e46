// RunLock ensures that only one run at a time uses a folder. It can outlive its process while Slurm
// jobs of the run exist. Used by `msprof cluster` and `msprof follow`.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/file_reader.hpp"

namespace msprof::cluster {

// Contents of the lock file. Only the lock on the file (base/owner_lock.hpp) shows who is working.
struct LockHolder {
  std::string host;
  std::string machine;            // machine_tag(); empty in locks of earlier versions
  long pid = 0;                   // 0: no program uses the folder
  std::vector<std::string> jobs;  // ids of Slurm jobs
};

class RunLock {
 public:
  // Returns true if any of these jobs still exists.
  using JobsAlive = std::function<bool(const std::vector<std::string>& jobs)>;

  // Takes OUTPUT/run.lock. Throws Error(cannot_write) naming the holder. `take_jobs`: adopts the
  // jobs of an ended program (--attach); otherwise they hold the lock while they exist. Without
  // file locks, a program counts as ended if it has not written to the file for 24 hours.
  RunLock(const std::filesystem::path& output, const JobsAlive& jobs_alive, bool take_jobs = false);
  // The same for another lock file and without jobs, for a folder that cannot be replaced by
  // another --output.
  explicit RunLock(const std::filesystem::path& file);
  // Releases the lock, unless leave() was called.
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  // Records the current jobs of this run.
  void set_jobs(const std::vector<std::string>& jobs);
  // Returns false if the lock file was removed or replaced, for example with its whole folder.
  bool is_held() const;
  // Shows other programs that this one is still working, where the file system has no locks.
  void refresh() { write(own_); }
  // Keeps the lock for the jobs after this program ends.
  void leave() { is_left_ = true; }

 private:
  void take(const JobsAlive& jobs_alive, bool take_jobs, bool is_output);
  void write(const LockHolder& holder);
  std::filesystem::path path_;
  FileDescriptor fd_;
  LockHolder own_;
  bool is_left_ = false;
};

}  // namespace msprof::cluster
