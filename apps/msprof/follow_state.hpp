// FollowState: which captures below a folder `msprof follow` has handled, in a file that survives
// kills and power cuts.
// {"schema": "msprof.follow/1", "captures": {"a/PROF_…": {"files": "0123…", "exit_code": 0,
//  "result": "complete, 14 files", "command": "exit code 0"}}}
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace msprof {

struct FollowedCapture {
  std::string files;   // identifies the raw files that were read
  int exit_code = 0;   // of import and export
  std::string result;  // a phrase or sentence for people
  // Set once import and export are finished, before the command of --exec is started.
  bool is_command_due = false;
  std::string command{};  // how the command ended; empty: not run
};

class FollowState {
 public:
  // Reads `file`, which may be missing. Throws Error(partial_data) if it cannot be used.
  explicit FollowState(std::filesystem::path file);

  // Returns the key of a capture: its path relative to the folder. Bytes that JSON cannot hold, and
  // '%', are encoded as %XX.
  static std::string key_of(const std::filesystem::path& relative);

  // Returns null for a capture that was not handled.
  const FollowedCapture* find(const std::string& key) const;

  // These write the file if something changed. Throw Error(cannot_write).
  void set(const std::string& key, FollowedCapture capture);
  void keep_only(const std::set<std::string>& keys);

 private:
  void write() const;

  std::filesystem::path file_;
  std::map<std::string, FollowedCapture> captures_;
};

}  // namespace msprof
