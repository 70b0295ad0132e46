// How the devices tell the interface that something cannot be done.
#pragma once

#include <stdexcept>
#include <string>

namespace msprof::acl {

// `code` is the aclError to return; the sentence goes to stderr unless it is empty.
class Failure : public std::runtime_error {
 public:
  explicit Failure(int code, const std::string& sentence = "")
      : std::runtime_error(sentence), code_(code) {}

  int code() const { return code_; }

 private:
  int code_;
};

}  // namespace msprof::acl
