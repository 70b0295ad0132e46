// A descriptor owned by a library inside the application's process.
#pragma once

#include <sys/types.h>

namespace msprof::runtime {

// Detects when the application has closed the descriptor and reused its number for another file.
// Such a file is neither written nor closed.
class HeldDescriptor {
 public:
  HeldDescriptor() = default;
  explicit HeldDescriptor(int fd);  // takes ownership; negative: empty
  ~HeldDescriptor() { close(); }
  HeldDescriptor(HeldDescriptor&& other) noexcept;
  HeldDescriptor& operator=(HeldDescriptor&& other) noexcept;
  HeldDescriptor(const HeldDescriptor&) = delete;
  HeldDescriptor& operator=(const HeldDescriptor&) = delete;

  // Returns -1 with EBADF if empty or if the number now belongs to another file. Costs one system
  // call.
  int get() const;
  // Returns false with errno if close() fails, true if the descriptor was already gone.
  bool close();

 private:
  int fd_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace msprof::runtime
