// Files that a library writes inside somebody else's process: never on the numbers of its stdio,
// never with a signal.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace msprof::runtime {

// open() with O_CLOEXEC and O_NOFOLLOW, mode 0640. Never 0, 1 or 2: an application that closed its
// stdout would print into our file. -1 with errno.
int open_above_stdio(const std::string& path, int flags);

// Largest size of a file. A write beyond RLIMIT_FSIZE raises SIGXFSZ, which would end the
// application: never try it.
uint64_t size_limit();

// Whether records of a file, or of files in a folder, may be mapped: its file system writes to the
// space that was allocated, so that a full disk never raises SIGBUS. The others are written to:
// those that write elsewhere when a page changes, for which they may have no space (btrfs, zfs,
// bcachefs, UBIFS, F2FS without checkpoints), those on another machine or in a program (NFS, FUSE),
// and overlays, which hide what they lie on.
bool may_be_mapped(const std::string& path);

// write(), again where a signal interrupts it.
ssize_t write_retrying(int fd, const void* bytes, std::size_t size);

// Writes a small text file under a temporary name and renames it; false with errno when that fails.
bool write_whole_file(const std::string& path, std::string_view text);

// The whole of a regular file of at most `limit_bytes`; nothing with errno where that fails: EFBIG
// beyond the limit, EISDIR for a folder, EINVAL for what else is no file. Never waits for one that
// writes.
std::optional<std::string> read_whole_file(const std::string& path, std::size_t limit_bytes);

// Folder of the program that runs; "." where it cannot be told.
std::string executable_folder();

}  // namespace msprof::runtime
