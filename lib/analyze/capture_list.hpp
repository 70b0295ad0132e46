// Describes captures in one line: when, where and how they were made, and the result of the last
// import. Reads run.json, file names and a few rows of the store, but no raw data. Used by `list`,
// shell completion, and the headers of show, compare and reports.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "session/run_record.hpp"
#include "session/session.hpp"
#include "store/run_summary.hpp"

namespace msprof {

struct ListedCapture {
  std::filesystem::path folder;
  Dialect dialect = Dialect::svp;
  std::int64_t time_ns = 0;      // start in run.json, else capture_time_ns()
  std::optional<RunRecord> run;  // contents of run.json
  std::string run_problem;       // why run.json cannot be used: "is not JSON"; empty: no problem
  std::string listing_problem;   // a sentence if not everything could be listed; else empty
  std::optional<RunSummary> summary;  // of the last import; empty: not imported
  std::vector<std::string> models;    // from the import, else from file names
  std::vector<std::string> batches;   // like `models`
  std::optional<std::int64_t> rank;   // from the capture, else from its framework
  std::uint64_t bytes = 0;            // size of all files in the folder, including products
};

// Does not set `bytes`.
ListedCapture describe_capture(const FoundCapture& capture);

// Sorted by time, newest first, then by path. Uses two threads.
std::vector<ListedCapture> list_captures(const std::vector<FoundCapture>& found);

// Returns the size of all files below a folder, in bytes. Does not follow symbolic links. Skips
// folders that cannot be listed; sets `problem`, if it is empty, to a sentence about the first one.
// `depth` is used for recursion.
std::uint64_t bytes_below(const std::filesystem::path& folder, std::string& problem, int depth = 0);

// Returns "complete", "PARTIAL DATA" or "not imported".
std::string describe_verdict(const ListedCapture& capture);

// Returns "2026-11-23 19:06, face_mask, complete", in local time; shown by shell completion.
std::string short_line(const ListedCapture& capture);

// Returns "2026-11-23 19:06:12 UTC+8, root@192.168.1.10 (Linux aarch64), main --images 100, run 2
// of 5". Empty if run.json has no such fields. Safe to print on a terminal.
std::string run_line(const RunRecord& run);
// Returns the line for a capture folder; empty without run.json.
std::string read_run_line(const std::filesystem::path& capture);

}  // namespace msprof
