// Check: the result of one inspection by `msprof doctor`, with its evidence and remedy. The
// checkers in this folder add checks to a CheckList, which the verb prints.
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
  skipped,  // could not be checked; the evidence is the reason
};

// "ok", "warning", "failed", "skipped"
std::string_view result_name(CheckResult result);

struct Check {
  std::string about;  // "this machine", "project", a board, a capture
  std::string name;   // "login"
  CheckResult result = CheckResult::ok;
  std::string evidence;  // what was observed
  std::string remedy;    // a command or instruction; empty if there is no problem
  Exit code = Exit::ok;  // of a failed check
};

class CheckList {
 public:
  // Sets the subject of subsequent checks.
  void begin(std::string about) { about_ = std::move(about); }

  void ok(std::string_view name, std::string evidence);
  void warn(std::string_view name, std::string evidence, std::string remedy);
  void fail(std::string_view name, std::string evidence, std::string remedy, Exit code);
  void skip(std::string_view name, std::string reason, std::string remedy = "");
  // Adds an Error as a failed check with its exit code: the message up to the first "; " is the
  // evidence, the rest the remedy. Rethrows Exit::interrupted.
  void fail(std::string_view name, const Error& error);

  // Returns an empty list with the same subject; append() adds its checks here.
  CheckList empty_copy() const;
  void append(CheckList other);

  const std::vector<Check>& checks() const { return checks_; }
  std::size_t count(CheckResult result) const;
  // Exit::ok, or the code of the most severe failed check.
  Exit exit_code() const;

 private:
  std::string about_;
  std::vector<Check> checks_;
};

}  // namespace msprof
