// Bell: wakes a thread that waits in poll(). For the servers and proxies of the tests.
#pragma once

#include <sys/eventfd.h>

#include "support/loopback.hpp"

namespace msprof::test {

class Bell {
 public:
  Bell() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  void ring() const { ::eventfd_write(fd_.get(), 1); }
  void quieten() const {
    eventfd_t ignored = 0;
    ::eventfd_read(fd_.get(), &ignored);
  }
  // Becomes readable when the bell rings.
  int fd() const { return fd_.get(); }

 private:
  Descriptor fd_;
};

}  // namespace msprof::test
