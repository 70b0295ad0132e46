// What a capture is, in a line: when, where and with what it was made, and what its last import
// found. For `list`, for completion, and for the heads of show, compare and reports. Reads
// run.json, names and a few rows of the store, never raw data.
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
  std::int64_t time_ns = 0;           // begin of the run where run.json says it, since 1970
  std::optional<RunRecord> run;       // run.json
  std::string run_problem;            // why it is not read: "is not JSON"; empty: nothing is wrong
  std::string listing_problem;        // a sentence: what is below is not all; empty: it is
  std::optional<RunSummary> summary;  // of the last import; empty: there was none
  std::vector<std::string> models;    // of the import, else by the names of its files
  std::vector<std::string> batches;   // likewise
  std::optional<std::int64_t> rank;   // of the capture, else as its framework says
  std::uint64_t bytes = 0;            // of all files in the folder, products too
};

// Without the sizes of its files.
ListedCapture describe_capture(const FoundCapture& capture);

// Captures, newest first; those of one time by path. Two threads read.
std::vector<ListedCapture> list_captures(const std::vector<FoundCapture>& found);

// Bytes of all files below a folder, as far as it can be listed. Links count as what they are, and
// are not followed. `depth`: of the folder below the one that was asked for.
std::uint64_t bytes_below(const std::filesystem::path& folder, int depth = 0);

// "complete", "PARTIAL DATA", "not imported".
std::string verdict_of(const ListedCapture& capture);

// "2026-11-23 19:06, face_mask, complete", in local time: help for completion.
std::string short_line(const ListedCapture& capture);

// "2026-11-23 19:06:12 UTC+8, root@192.168.1.10 (Linux aarch64), main --images 100, run 2 of 5";
// empty where run.json says nothing. `printable` as all names from captures.
std::string run_line(const RunRecord& run);
// The same of a capture: of run.json, else empty.
std::string run_line_of(const std::filesystem::path& capture);

}  // namespace msprof
