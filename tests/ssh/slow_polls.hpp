// SlowPolls: for its lifetime, every non-waiting poll() in the program takes longer, so that
// answers arrive between two polls, as on a slow machine.
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
