// A descriptor that a library keeps in somebody else's process.
#pragma once

#include <sys/types.h>

namespace msprof::runtime {

// An application may close what it does not know, and have the number for a file of its own the
// next time: that one is neither written nor closed.
class HeldDescriptor {
 public:
  HeldDescriptor() = default;
  explicit HeldDescriptor(int fd);  // its own from now on; negative: none
  ~HeldDescriptor() { close(); }
  HeldDescriptor(HeldDescriptor&& other) noexcept;
  HeldDescriptor& operator=(HeldDescriptor&& other) noexcept;
  HeldDescriptor(const HeldDescriptor&) = delete;
  HeldDescriptor& operator=(const HeldDescriptor&) = delete;

  // -1 with EBADF where there is none, or the number is another file's by now. One system call.
  int get() const;
  // False with errno where the system says so; true where there is none any more.
  bool close();

 private:
  int fd_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace msprof::runtime
