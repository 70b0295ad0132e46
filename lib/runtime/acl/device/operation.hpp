// A single operator that is ready to run: the object to which an aclnn executor handle refers.
#pragma once

#include <atomic>

#include "runtime/acl/prof/recorder.hpp"

namespace msprof::acl {

class Operation {
 public:
  virtual ~Operation() = default;
  virtual void run() const = 0;

  OpInfo info;
  std::atomic<bool> is_repeatable{false};  // its handle outlives a run

 protected:
  Operation() = default;
};

}  // namespace msprof::acl
