// RunFigures: what is known of a run while it goes on; and how that is shown, in lines for a
// terminal and in one sentence for everything else. For LiveView; both functions are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/transfer_line.hpp"

namespace msprof::watch {

// A layer, or a stream of tasks, with the time that it took so far.
struct SlowPart {
  std::string name;
  std::uint64_t count = 0;
  double total_ns = 0;
};

// What records say about the run; nothing where none of them can be read.
struct RecordFigures {
  bool has_records = false;  // some were read
  std::string unit = "execution";
  std::uint64_t count = 0;        // of that unit
  std::string part = "layer";     // what `slowest` is about
  std::vector<SlowPart> slowest;  // the slowest first
  double all_ns = 0;              // of all parts
  std::uint64_t unread_bytes = 0;
  std::string note;  // a sentence on what is not shown and why; empty: nothing
};

struct RunFigures {
  std::string name;  // of the application
  std::string host;
  double seconds = 0;  // since its start
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;  // of its output folder
  std::optional<double> bytes_per_second;
  std::optional<std::uint64_t> free_bytes;  // where it writes
  std::string disk;                         // what that disk is called: "disk of the board"
  bool is_freed = false;  // of what has come home: its fill is not that of `bytes`
  std::optional<double> seconds_until_full;  // as a drain has measured it; empty: by the figures
  std::optional<double> count_per_second;
  RecordFigures records;
  // What comes home meanwhile; no label: nothing does.
  std::string transfer_label;
  TransferState transfer;
};

// Seconds until the disk is full; empty: not in sight.
std::optional<double> seconds_until_full(const RunFigures& figures);

// At most `width` columns and `most_lines` lines (at least 4), the title first.
std::vector<std::string> lines_of(const RunFigures& figures, int width, std::size_t most_lines);

// "12 s: 27.3 executions/s (328), slowest conv1 2.345 ms, 4 files, 1.2 MB, 14.8 MB free"
std::string sentence_of(const RunFigures& figures);

}  // namespace msprof::watch
