// File functions for a library inside the application's process. They never use descriptors 0 to 2
// and never raise a signal.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace msprof::runtime {

// open() with O_CLOEXEC and O_NOFOLLOW, mode 0640. Never returns 0, 1 or 2: an application
// that has closed its stdout would print to the file. Returns -1 with errno on error.
int open_above_stdio(const std::string& path, int flags);

// Maximum file size. Writing beyond RLIMIT_FSIZE raises SIGXFSZ, which would kill the application,
// so callers must check this first.
uint64_t size_limit();

// Returns whether a file, or the files in a folder, may be mapped. True for file systems that write
// to preallocated space, so that a full disk never raises SIGBUS. False for those that write
// changed pages elsewhere, possibly without space (btrfs, zfs, bcachefs, UBIFS, F2FS without
// checkpoints), for remote and userspace file systems (NFS, FUSE), and for overlays, which hide the
// underlying file system.
bool may_be_mapped(const std::string& path);

// write() that retries after EINTR.
ssize_t write_retrying(int fd, const void* bytes, std::size_t size);

// Writes a small text file under a temporary name and renames it. Returns false with errno on
// error.
bool write_whole_file(const std::string& path, std::string_view text);

// Reads a regular file of at most `limit_bytes`. Empty with errno on error: EFBIG if it is larger,
// EISDIR for a folder, EINVAL if it is not a regular file. Never blocks on a pipe.
std::optional<std::string> read_whole_file(const std::string& path, std::size_t limit_bytes);

// Folder of the running program; "." if unknown.
std::string executable_folder();

}  // namespace msprof::runtime
