// Check: one thing that `msprof doctor` inspected: what it found, and the remedy. For the
// checkers of this folder, which fill a CheckList, and the verb, which prints it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/words.hpp"

namespace msprof {

enum class CheckResult {
  ok,
  warning,
  failed,
  skipped,  // it could not be checked; the evidence has the reason
};

// "ok", "warning", "failed", "skipped"
std::string_view result_name(CheckResult result);

struct Check {
  std::string about;  // "this machine", "project", a board, a capture
  std::string name;   // "login"
  CheckResult result = CheckResult::ok;
  std::string evidence;  // what was seen
  std::string remedy;    // a command, or what to do; empty if all is well
  Exit code = Exit::ok;  // of a failed one
};

class CheckList {
 public:
  // Sets the subject of the checks from now on.
  void begin(std::string about) { about_ = std::move(about); }

  void ok(std::string_view name, std::string evidence);
  void warn(std::string_view name, std::string evidence, std::string remedy);
  void fail(std::string_view name, std::string evidence, std::string remedy, Exit code);
  void skip(std::string_view name, std::string reason, std::string remedy = "");
  // Adds an Error as a failed check: its sentence up to the first "; " is the evidence, the
  // rest the remedy. Its code is the check's. Throws it again where it is Exit::interrupted.
  void fail(std::string_view name, const Error& error);

  // Makes a list of its own about the same subject; append() adds its checks here.
  CheckList empty_copy() const;
  void append(CheckList other);

  const std::vector<Check>& checks() const { return checks_; }
  std::size_t count(CheckResult result) const;
  // Exit::ok, or the code of the gravest failed check.
  Exit exit_code() const;

 private:
  std::string about_;
  std::vector<Check> checks_;
};

}  // namespace msprof
