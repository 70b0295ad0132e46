// Reads dumps of /proc files: blocks of lines, each preceded by its time. Used for CPU times and
// memory. Source: cann_system.md 11.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "import/cann/cann_import.hpp"

namespace msprof::cann {

inline constexpr std::string_view kNoTimeStamp = "not preceded by a time stamp";
inline constexpr std::string_view kCutBlock = "block without an end";

// Recognizes the lines around a block: "TimeStamp:<ns>", "Index:<n>", "DataLen:<n>", and the empty
// line at its end. The time is in ns of the device's monotonic clock, or of the host's in the host
// folder.
class ProcFrame {
 public:
  ProcFrame(const CannSession& session, const StartMoment& start)
      : session_(session), start_(start) {}

  // Returns nullopt for a line within a block, else the result for SliceLines::Take.
  std::optional<std::string_view> take(std::string_view line);
  // Time of the block; nullopt if it has no valid time stamp.
  std::optional<std::int64_t> time_ns() const { return time_ns_; }

 private:
  const CannSession& session_;
  const StartMoment& start_;
  std::optional<std::int64_t> time_ns_;
};

// Returns true for the first line of a block, which also ends the previous block.
bool begins_block(std::string_view line);

// names_process() returns true for a line such as "ProcessName:python3". process_name_in() returns
// the name, made printable.
bool names_process(std::string_view line);
std::string process_name_in(std::string_view line);
// Returns the subject of a process's tracks: "python3 (1402)", or "Process 1402" without a name.
std::string process_subject(std::string_view name, std::int64_t pid);

// Returns 1402 for "1402-Memory.data" and ending "-Memory.data"; nullopt for other stems.
std::optional<std::int64_t> parse_pid_in_stem(std::string_view stem, std::string_view ending);

}  // namespace msprof::cann
