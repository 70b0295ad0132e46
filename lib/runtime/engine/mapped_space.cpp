#include "runtime/engine/mapped_space.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace msprof::runtime {

namespace {

#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;
#endif

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// Distance of an offset or an address from the start of its page.
std::size_t in_page(std::uint64_t at) {
  return static_cast<std::size_t>(at % page_bytes());
}
std::size_t in_page(const std::byte* at) {
  return in_page(std::uint64_t{reinterpret_cast<std::uintptr_t>(at)});
}

int allocate(int fd, std::uint64_t from, std::size_t bytes) {
  int error = 0;
  do {
    error = posix_fallocate(fd, static_cast<off_t>(from), static_cast<off_t>(bytes));
  } while (error == EINTR);
  return error;
}

bool write_zeros(int fd, std::uint64_t from, std::size_t bytes) {
  static constexpr std::array<char, std::size_t{64} << 10> kZeros{};
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t part = std::min(kZeros.size(), bytes - done);
    const ssize_t written = pwrite(fd, kZeros.data(), part, static_cast<off_t>(from + done));
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  return true;
}

// Loads the pages of new space. Writing zeros is three times as fast as touching the pages: on a
// page fault the kernel first reads the page and its neighbors from unwritten space. On tmpfs the
// pages exist once space is allocated.
bool load_new_space(int fd, std::byte* space, std::uint64_t from, std::size_t bytes) {
  std::byte* const last = space + bytes - 1;
  unsigned char is_there = 0;
  const bool is_known = mincore(last - in_page(last), 1, &is_there) == 0;
  if (fd >= 0 && is_known && (is_there & 1U) == 0 && !write_zeros(fd, from, bytes)) return false;
  // Page faults cost more than writing the records. EFAULT: a page cannot be written.
  if (load_pages(space, bytes)) return true;
  if (errno == EFAULT) return false;
  for (std::byte* page = space - in_page(space); page <= last; page += page_bytes())
    *reinterpret_cast<volatile char*>(std::max(page, space)) = 0;
  return true;
}

}  // namespace

std::byte* map_space(int fd, std::uint64_t from, std::size_t bytes, std::size_t loaded_bytes) {
  if (fd >= 0) {
    errno = allocate(fd, from, bytes);
    if (errno != 0) return nullptr;
  }
  const std::size_t before = in_page(from);
  void* const mapped = mmap(nullptr, before + bytes, PROT_READ | PROT_WRITE,
                            fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd,
                            static_cast<off_t>(from - before));
  if (mapped == MAP_FAILED) return nullptr;
  std::byte* const space = static_cast<std::byte*>(mapped) + before;
  if (load_new_space(fd, space, from, loaded_bytes)) return space;
  const int error = errno;
  unmap_space(space, bytes);
  errno = error;
  return nullptr;
}

void unmap_space(std::byte* space, std::size_t bytes) {
  const std::size_t before = in_page(space);
  munmap(space - before, before + bytes);
}

bool load_pages(std::byte* space, std::size_t bytes) {
  const std::size_t before = in_page(space);
  return madvise(space - before, before + bytes, MADV_POPULATE_WRITE) == 0;
}

}  // namespace msprof::runtime
