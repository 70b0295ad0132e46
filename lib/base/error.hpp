// Error: what a command throws when it cannot go on, with the exit code that the shell will see.
// For every module. The message is a whole sentence for the user: it names the file and the way
// out.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace msprof {

// The one table of exit codes; README.md shows the same table.
enum class Exit : int {
  ok = 0,
  internal_error = 1,
  usage = 2,
  partial_data = 3,   // damaged, truncated or unknown data; the rest was produced
  nothing_to_do = 4,  // no such folder, no such data
  cannot_write = 5,
  board_unreachable = 6,  // or login refused
  application_failed = 7,
  regression = 8,
  interrupted = 130,
};

// Returns the gravest of several causes: interrupted, application_failed, board_unreachable,
// cannot_write, partial_data, nothing_to_do. usage and internal_error end a command at once and win
// over all.
Exit gravest(Exit a, Exit b);

// The exit code of a process of ours, or what a file says that it was; internal_error for a number
// that is none of the table.
Exit exit_of_code(int code);

enum class FindingId : int;  // base/findings.hpp

class Error : public std::runtime_error {
 public:
  Error(Exit code, const std::string& message) : std::runtime_error(message), code_(code) {}
  // An error that scripts can distinguish: its id stands in findings.def, with the exit code.
  Error(FindingId id, const std::string& message);
  Exit code() const { return code_; }
  std::optional<FindingId> id() const { return id_; }

  // Returns the error with what an outer layer knows put in front: "reading X: ...".
  Error with_context(std::string_view context) const;

 private:
  Exit code_;
  std::optional<FindingId> id_;
};

// The text of an errno value, "No space left on device".
std::string errno_text(int error_number);

}  // namespace msprof
