// RunFigures: what is known about a run in progress, and its display: as lines for a terminal, or
// as one sentence. Used by LiveView; both formatting functions are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/transfer_line.hpp"

namespace msprof::watch {

// A layer, or a stream of tasks, with its total time so far.
struct SlowPart {
  std::string name;
  std::uint64_t count = 0;
  double total_ns = 0;
};

// Results from the records; empty if no record can be read.
struct RecordFigures {
  bool has_records = false;  // at least one record was read
  std::string unit = "execution";
  std::uint64_t count = 0;        // number of executions, or of other `unit`s
  std::string part = "layer";     // the kind of parts in `slowest`
  std::vector<SlowPart> slowest;  // descending by time
  double all_ns = 0;              // total of all parts
  std::uint64_t unread_bytes = 0;
  std::string note;  // a sentence about what is not shown, and why; may be empty
};

struct RunFigures {
  std::string name;  // of the application
  std::string host;
  double seconds = 0;  // since its start
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;  // size of its output folder
  std::optional<double> bytes_per_second;
  std::optional<std::uint64_t> free_bytes;  // on the disk that it writes to
  std::string disk;                         // name of that disk: "disk of the board"
  bool is_freed = false;  // downloaded data is freed there, so the fill rate differs from the
                          // growth of `bytes`
  std::optional<double> seconds_until_full;  // measured by a drain; empty: computed from the other
                                             // members
  std::optional<double> count_per_second;
  RecordFigures records;
  // Progress of downloads during the run; an empty label: none.
  std::string transfer_label;
  TransferState transfer;
};

// Seconds until the disk is full; empty if unknown.
std::optional<double> seconds_until_full(const RunFigures& figures);

// Returns at most `width` columns and `most_lines` lines (at least 4), starting with the title.
std::vector<std::string> figure_lines(const RunFigures& figures, int width, std::size_t most_lines);

// "12 s: 27.3 executions/s (328), slowest conv1 2.345 ms, 4 files, 1.2 MB, 14.8 MB free"
std::string figure_sentence(const RunFigures& figures);

}  // namespace msprof::watch
