// A single operator that is ready to run: what an executor of aclnn stands for.
#pragma once

#include <atomic>

#include "runtime/acl/prof/recorder.hpp"

namespace msprof::acl {

class Operation {
 public:
  virtual ~Operation() = default;
  virtual void run() const = 0;

  OpInfo info;
  std::atomic<bool> repeatable{false};  // stays after its first run

 protected:
  Operation() = default;
};

}  // namespace msprof::acl
