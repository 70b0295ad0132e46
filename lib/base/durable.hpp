// Syncs files to disk so that they survive a power cut. Every function except start_sync() throws
// Error(cannot_write) with the path that could not be synced.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "base/atomic_file.hpp"

namespace msprof {

// Starts writing an open file to disk from `offset`, without waiting. Errors are ignored.
void start_sync(int fd, std::uint64_t offset = 0);
// Returns once the bytes of an open file are on disk. `path` and `hint` are used in errors.
void sync_file(int fd, const std::filesystem::path& path, std::string_view hint = kOtherOutput);
// Returns once the names in `folder` are on disk.
void sync_folder(const std::filesystem::path& folder);
// Runs all calls on several threads, so that waits for the disk overlap. Runs all calls even if
// some fail, then rethrows the error of the first failed call in the list.
void sync_together(const std::vector<std::function<void()>>& syncs);
// Returns once all files and folders below `root`, and `root` itself, are on disk. Skips links and
// special files. `root` may be a file.
void sync_tree(const std::filesystem::path& root);

}  // namespace msprof
