// Space for records in memory that is mapped from a file: storing a record needs no system call,
// and the record survives if the application is killed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace msprof::runtime {

// Allocates `bytes` of a file from the offset `from`, maps them, and loads the first
// `loaded_bytes`. The file grows. Space is allocated before it is mapped, so a full disk is an
// allocation error and never a SIGBUS. With fd -1, returns memory of the process. Null with errno
// on error.
std::byte* map_space(int fd, std::uint64_t from, std::size_t bytes, std::size_t loaded_bytes);
// Unmaps space of map_space(); the length of the file does not change.
void unmap_space(std::byte* space, std::size_t bytes);

// Maps these pages without changing them. Returns false with errno if the kernel does not support
// it (before 5.14).
bool load_pages(std::byte* space, std::size_t bytes);

}  // namespace msprof::runtime
