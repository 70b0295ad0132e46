#include "board/disk/nfs.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "board/session/config.hpp"

namespace msprof {

namespace {

// Arguments: $1 run folder, $2 SERVER:/path, $3 the run's folder on the share. The mount options
// are the manual's: boards have no lock daemon, and some kernels have no NFS over UDP.
const BoardScript kNfsMount = {"mounting a folder of an NFS server",
                               std::string(kUnmountFunction) + R"sh(
umask 077
: > "$1/mounted" || exit 1
if ! mount -t nfs -o nolock,tcp "$2" "$1/profiling"; then
  rm -f "$1/mounted"
  exit 1
fi
mkdir "$1/profiling/$3" && exit 0
unmount "$1"
exit 1
)sh"};

// Arguments: $1 run folder, $2 name to remove from the share first; empty: nothing.
const BoardScript kNfsClose = {"unmounting the NFS server's folder",
                               std::string(kUnmountFunction) + R"sh(
[ -e "$1/mounted" ] || exit 0
[ -z "$2" ] || rm -rf "$1/profiling/$2"
unmount "$1"
)sh"};

}  // namespace

void check_nfs_share(std::string_view share) {
  const auto at = share.find(":/");
  if (at == std::string_view::npos || at == 0 || share.starts_with('-') || has_control(share)) {
    throw Error(
        Exit::usage,
        fmt::format(
            "--nfs: expected SERVER:/path, such as 192.168.1.2:/home/me/profiling, got '{}'",
            printable(share)));
  }
}

std::string BoardNfs::place() const {
  return share_ + (share_.ends_with('/') ? "" : "/") + folder_name();
}

std::string BoardNfs::open() {
  const BoardAnswer answer =
      link_.shell().ask(kNfsMount, {link_.run_folder(), share_, folder_name()});
  if (!answer.has_succeeded()) {
    throw Error(Exit::cannot_write,
                fmt::format("{}: cannot record into {}: {} (is it exported to the board and "
                            "writable for it, and can {} mount there?)",
                            link_.name(), share_, answer.reason(), link_.shell().login().user));
  }
  is_open_ = true;
  log::info("{} records into {}", link_.name(), place());
  return folder();
}

void BoardNfs::close(bool remove) {
  if (!is_open_) return;
  link_.shell().change(kNfsClose, {link_.run_folder(), remove ? folder_name() : ""});
  is_open_ = false;
}

}  // namespace msprof
