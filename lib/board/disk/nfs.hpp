// BoardNfs: mounts a folder of an NFS server as the output folder of a run, as in the vendor's
// manual, for recordings that do not fit on the board. Used by SshHost.
//
// Each run records into its own folder on the server. The share is unmounted before the run's
// folder on the board is moved or removed: by the scripts of SshHost, or by the board itself if the
// connection is lost (BoardLease). A folder that is still mounted is never removed.
#pragma once

#include <string>
#include <string_view>

#include "board/session/link.hpp"

namespace msprof {

// Throws Error(usage) if `share` is not SERVER:/path.
void check_nfs_share(std::string_view share);

class BoardNfs {
 public:
  // `share`: SERVER:/path; empty: no share, and the other functions do nothing.
  BoardNfs(BoardLink& link, std::string share) : link_(link), share_(std::move(share)) {}

  bool is_on() const { return !share_.empty(); }
  bool is_open() const { return is_open_; }
  // Mounts the share at the run's output folder; returns the run's folder on the share, relative to
  // the run folder. Throws Error(cannot_write) with the board's reason.
  std::string open();
  // The folder that open() returns.
  std::string folder() const { return "profiling/" + folder_name(); }
  // Unmounts the share; with `remove`, first removes the run's folder on it. Throws
  // Error(cannot_write).
  void close(bool remove);
  // Returns the location of the recording for messages:
  // "192.168.1.2:/home/me/profiling/msprof_<run>".
  std::string place() const;

 private:
  std::string folder_name() const { return "msprof_" + link_.run(); }
  BoardLink& link_;
  std::string share_;
  bool is_open_ = false;
};

}  // namespace msprof
