// Bringing files to the disk, so that a power cut does not take them. Each throws
// Error(cannot_write), which names what cannot be brought there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "base/atomic_file.hpp"

namespace msprof {

// Starts to write the bytes of an open file to the disk from `offset` on, and does not wait.
void start_sync(int fd, std::uint64_t offset = 0);
// Returns when the bytes of an open file are on the disk. `path` and `hint` are for the message.
void sync_file(int fd, const std::filesystem::path& path, std::string_view hint = kOtherOutput);
// Returns when the names in `folder` are on the disk.
void sync_folder(const std::filesystem::path& folder);
// Makes all calls, some of them at the same time: what waits for a disk waits once for many. Throws
// what the first of those that failed threw.
void sync_together(const std::vector<std::function<void()>>& syncs);
// Returns when all files and folders below `root`, and `root` itself, are on the disk; links and
// special files are left out. `root` may be a file.
void sync_tree(const std::filesystem::path& root);

}  // namespace msprof
