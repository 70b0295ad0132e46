// BoardNfs: a folder of an NFS server as the output folder of a run, as the vendor's manual mounts
// one, for recordings that do not fit on the board. For SshHost.
//
// What is recorded is in a folder of the run there. The mount ends before the run's folder on the
// board is moved or removed, whoever does that: the scripts of SshHost, or the board itself when
// the connection is lost (BoardLease). A folder that is still mounted is never removed.
#pragma once

#include <string>
#include <string_view>

#include "board/link.hpp"

namespace msprof {

// Throws Error(usage) for what is not SERVER:/path.
void check_nfs_share(std::string_view share);

class BoardNfs {
 public:
  // `share`: SERVER:/path; empty: none is used, and the rest of this class does nothing.
  BoardNfs(BoardLink& link, std::string share) : link_(link), share_(std::move(share)) {}

  bool is_on() const { return !share_.empty(); }
  bool is_open() const { return is_open_; }
  // Mounts it at the run's output folder; returns the folder of the run there, relative to the run
  // folder. Throws Error(cannot_write) with the board's reason.
  std::string open();
  // That folder.
  std::string folder() const { return "profiling/" + folder_name(); }
  // Unmounts; `remove`: what the run left there goes before. Throws Error(cannot_write).
  void close(bool remove);
  // Where the recording is, for messages: "192.168.1.2:/home/me/profiling/msprof_<run>".
  std::string place() const;

 private:
  std::string folder_name() const { return "msprof_" + link_.run(); }
  BoardLink& link_;
  std::string share_;
  bool is_open_ = false;
};

}  // namespace msprof
