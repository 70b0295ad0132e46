// SlowPolls: while one lives, every poll() that does not wait takes longer, in the whole program,
// so that answers arrive between two of them, as on a slow machine.
#pragma once

#include <chrono>

namespace msprof::test {

class SlowPolls {
 public:
  explicit SlowPolls(std::chrono::microseconds each);
  ~SlowPolls();
  SlowPolls(const SlowPolls&) = delete;
  SlowPolls& operator=(const SlowPolls&) = delete;
};

}  // namespace msprof::test
