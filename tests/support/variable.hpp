// Variable: sets or unsets an environment variable of this process, and restores it when destroyed.
// For all tests; not for programs with other threads that use the environment.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace msprof::test {

class Variable {
 public:
  // Without a value, unsets the variable.
  Variable(std::string name, const std::optional<std::string>& value) : name_(std::move(name)) {
    if (const char* const before = std::getenv(name_.c_str())) before_ = before;
    set(value);
  }
  ~Variable() { set(before_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const std::optional<std::string>& value) const {
    if (value) {
      ::setenv(name_.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }

  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace msprof::test
