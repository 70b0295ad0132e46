// Dumps of files of /proc: blocks of lines, each with the moment at which it was taken before it.
// For the kinds of CPU times and memory. Source: cann_system.md 11.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "import/cann/cann_import.hpp"

namespace msprof::cann {

inline constexpr std::string_view kNoTimeStamp = "behind no time stamp";
inline constexpr std::string_view kCutBlock = "a block without its end";

// The lines that frame a block: "TimeStamp:<ns>", "Index:<n>", "DataLen:<n>", and the empty line at
// its end. The ns are of the monotonic clock of the device, in the host's folder of the host.
class ProcFrame {
 public:
  ProcFrame(const CannSession& session, const StartMoment& start)
      : session_(session), start_(start) {}

  // Empty for a line within a block; else what SliceLines wants to know of the line.
  std::optional<std::string_view> take(std::string_view line);
  // Of the block; empty where it has no time stamp that can be read.
  std::optional<std::int64_t> time_ns() const { return time_ns_; }

 private:
  const CannSession& session_;
  const StartMoment& start_;
  std::optional<std::int64_t> time_ns_;
};

// True for the line that begins a block: what was before it is over.
bool begins_block(std::string_view line);

// True for a line "ProcessName:python3", which has the name, safe to show.
bool names_process(std::string_view line);
std::string process_name_in(std::string_view line);
// "python3 (1402)", "Process 1402": how a process is called where there is one text.
std::string process_subject(std::string_view name, std::int64_t pid);

// The 1402 of "1402-Memory.data", where `ending` is "-Memory.data"; empty for another stem.
std::optional<std::int64_t> pid_in_stem(std::string_view stem, std::string_view ending);

}  // namespace msprof::cann
