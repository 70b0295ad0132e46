// RunLock: one run at a time works in an output folder. It outlives the program that took it while
// jobs of Slurm that it started are there. For `msprof cluster`.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/file_reader.hpp"

namespace msprof::cluster {

// What the lock file says. Who works in the folder is told by the lock of the file alone
// (base/owner_lock.hpp).
struct LockHolder {
  std::string host;
  std::string machine;            // machine_tag(); empty in locks of earlier versions
  long pid = 0;                   // 0: nobody works in the folder any more
  std::vector<std::string> jobs;  // of Slurm
};

class RunLock {
 public:
  // Whether any of these jobs is still there.
  using JobsAlive = std::function<bool(const std::vector<std::string>& jobs)>;

  // Takes OUTPUT/run.lock. Throws Error(cannot_write) with who holds it. `take_jobs`: the jobs of a
  // program that is gone are ours now (--attach); else they keep the lock while they are there.
  // Where the file system has no locks, a program that is gone is one that wrote nothing into the
  // file for 24 hours.
  RunLock(const std::filesystem::path& output, const JobsAlive& jobs_alive, bool take_jobs = false);
  // Gives it back, but for leave().
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  // Notes the jobs that this run has now.
  void set_jobs(const std::vector<std::string>& jobs);
  // Leaves it to the jobs when this program ends.
  void leave() { is_left_ = true; }

 private:
  void write(const LockHolder& holder);
  std::filesystem::path path_;
  FileDescriptor fd_;
  LockHolder own_;
  bool is_left_ = false;
};

}  // namespace msprof::cluster
