// Exception by which the device layer reports errors to the C interface.
#pragma once

#include <stdexcept>
#include <string>

namespace msprof::acl {

// `code` is the aclError to return. The message is printed on stderr unless it is empty.
class Failure : public std::runtime_error {
 public:
  explicit Failure(int code, const std::string& sentence = "")
      : std::runtime_error(sentence), code_(code) {}

  int code() const { return code_; }

 private:
  int code_;
};

}  // namespace msprof::acl
