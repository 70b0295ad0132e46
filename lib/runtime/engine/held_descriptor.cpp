#include "runtime/engine/held_descriptor.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace msprof::runtime {

HeldDescriptor::HeldDescriptor(int fd) : fd_(fd) {
  struct stat state = {};
  if (fd < 0 || fstat(fd, &state) != 0) return;
  device_ = state.st_dev;
  inode_ = state.st_ino;
}

HeldDescriptor::HeldDescriptor(HeldDescriptor&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), device_(other.device_), inode_(other.inode_) {}

HeldDescriptor& HeldDescriptor::operator=(HeldDescriptor&& other) noexcept {
  if (this == &other) return *this;
  close();
  fd_ = std::exchange(other.fd_, -1);
  device_ = other.device_;
  inode_ = other.inode_;
  return *this;
}

int HeldDescriptor::get() const {
  struct stat state = {};
  if (fd_ >= 0 && fstat(fd_, &state) == 0 && state.st_dev == device_ && state.st_ino == inode_)
    return fd_;
  errno = EBADF;
  return -1;
}

bool HeldDescriptor::close() {
  if (fd_ < 0) return true;
  const int fd = get();
  fd_ = -1;
  return fd < 0 || ::close(fd) == 0;
}

}  // namespace msprof::runtime
