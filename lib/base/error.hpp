// Error: thrown when a command cannot continue; carries the exit code. Used by every module. The
// message is a complete sentence for the user that names the file and the remedy.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace msprof {

// All exit codes; README.md shows the same table.
enum class Exit : int {
  ok = 0,
  internal_error = 1,
  usage = 2,
  partial_data = 3,   // damaged, truncated or unknown data; the rest was produced
  nothing_to_do = 4,  // the folder or data does not exist
  cannot_write = 5,
  board_unreachable = 6,  // board unreachable, or login refused
  application_failed = 7,
  regression = 8,
  interrupted = 130,
};

// Returns the more severe of two exit codes. usage and internal_error, which stop a command at
// once, are the most severe; the others follow in this order: interrupted, application_failed,
// board_unreachable, cannot_write, partial_data, nothing_to_do.
Exit gravest(Exit a, Exit b);

// Converts the exit code of an msprof process, or one read from a file; internal_error if unknown.
Exit to_exit(int code);

enum class FindingId : int;  // base/findings.hpp

class Error : public std::runtime_error {
 public:
  Error(Exit code, const std::string& message) : std::runtime_error(message), code_(code) {}
  // Creates an error with an id for scripts. findings.def defines the id and its exit code.
  Error(FindingId id, const std::string& message);
  Exit code() const { return code_; }
  std::optional<FindingId> id() const { return id_; }

  // Returns this error prefixed with context from an outer layer: "reading X: ...".
  Error with_context(std::string_view context) const;

 private:
  Exit code_;
  std::optional<FindingId> id_;
};

// Returns the text of an errno value: "No space left on device".
std::string errno_text(int error_number);

}  // namespace msprof
