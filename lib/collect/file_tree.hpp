// Trees of files: walking, copying with reflinks, moving, removing. Never follows links. Used by
// the local host and the arrival of captures.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <functional>

namespace msprof {

std::int64_t mtime_ns(const struct stat& status);

// Calls `visit` for everything below `root`, sorted by name, folders before their contents; enters
// a folder if it returns true. Calls `unreadable` for folders that could not be listed completely.
using TreeVisitor = std::function<bool(const std::filesystem::path& relative, const struct stat&)>;
using TreeFailure = std::function<void(const std::filesystem::path& relative, int error_number)>;
void walk_tree(const std::filesystem::path& root, const TreeVisitor& visit,
               const TreeFailure& unreadable);

// Copies content, permission bits and modification time to a new file: as a reflink if the file
// system supports it, never as a hard link. Returns 0 or an errno value; on failure `target` is
// removed.
int copy_file_whole(const std::filesystem::path& source, const std::filesystem::path& target,
                    mode_t mode, std::int64_t mtime_ns);

// Sets the modification time of a file, a folder or a link itself; ignores failures of file systems
// that store no times.
void set_mtime(const std::filesystem::path& path, std::int64_t mtime_ns);

// Moves a file or folder to `target`: renames within a file system, otherwise copies files and
// folders. Throws Error(cannot_write).
void move_tree(const std::filesystem::path& source, const std::filesystem::path& target);

// Removes a tree regardless of folder permissions. Returns true if it is gone.
bool remove_tree(const std::filesystem::path& root);

}  // namespace msprof
