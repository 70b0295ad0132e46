// Trees of files: walking, copying with reflinks, moving, removing. For the local host and the
// arrival of captures. Links are never followed.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <functional>

namespace msprof {

std::int64_t mtime_ns(const struct stat& status);

// Calls `visit` for everything below `root`, sorted by name, folders before what they hold; a
// folder is entered when it returns true. `unreadable` gets the folders that could not be listed to
// their end.
using TreeVisitor = std::function<bool(const std::filesystem::path& relative, const struct stat&)>;
using TreeFailure = std::function<void(const std::filesystem::path& relative, int error_number)>;
void walk_tree(const std::filesystem::path& root, const TreeVisitor& visit,
               const TreeFailure& unreadable);

// Copies bytes, permission bits and modification time into a new file: a reflink where the file
// system has them, never a hard link. Returns 0 or an errno value; `target` is then gone.
int copy_file_whole(const std::filesystem::path& source, const std::filesystem::path& target,
                    mode_t mode, std::int64_t mtime_ns);

// Sets the times of a file, a folder or a link itself; a file system that keeps no times is no
// error.
void set_mtime(const std::filesystem::path& path, std::int64_t mtime_ns);

// Moves a file or a folder to `target` (same file system: a rename; else a copy of its files and
// folders). Throws Error(cannot_write).
void move_tree(const std::filesystem::path& source, const std::filesystem::path& target);

// Removes a tree whatever permissions its folders have. True when it is gone.
bool remove_tree(const std::filesystem::path& root);

}  // namespace msprof
