// RunRecord describes when, where and with which options a capture was made. It is stored in the
// capture folder as run.json, written by `collect` and read by every command that describes a
// capture. Captures from other tools have no run.json.
// {"schema": "msprof.run/1", "msprof": "0.3.0", "begin": "2026-11-23T11:06:12.345Z", "end": …,
//  "host": "root@192.168.1.10", "board": {"system": "Linux", "machine": "aarch64", …},
//  "command": ["main", "--images", "100"], "options": {"--interval": "10"},
//  "models": [{"file": "models/a.om", "bytes": 4096, "sha256": "…"}],
//  "application": {"seconds": 1.5, "exit_code": 0}, "exit_code": 0,
//  "layout": {"file": "ss928.json", "source": "--layout", "json": {…}},
//  "repeat": {"run": 2, "of": 5, "warm_up": false}}
// Keys without a value are omitted. Contains no passwords and no environment variables.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msprof {

inline constexpr std::string_view kRunRecordName = "run.json";

struct RunModel {
  std::string file;  // path relative to the project
  std::uint64_t bytes = 0;
  std::string sha256;  // lower case; empty: not computed
};

// The record layout used to read the records of a board.
struct RunLayout {
  std::string file;
  std::string source;    // "--layout"
  std::string json;      // the layout itself; empty: not stored
  std::string origin{};  // "inferred" (by a search), "described"; empty: not used yet
};

// Position of a run in a series (--repeat).
struct RunRepeat {
  int run = 0;  // from 1; 0: a single run
  int of = 0;
  bool is_warm_up = false;  // reported separately and not compared

  // "run 2 of 5", "warm-up 1 of 1"; empty for a single run.
  std::string text() const;
};

struct RunRecord {
  using Facts = std::vector<std::pair<std::string, std::string>>;

  std::string msprof;  // version of msprof
  std::int64_t begin_ns =
      0;  // application start since 1970, clock of the local machine; 0: unknown
  std::int64_t end_ns = 0;
  std::string host;  // "this machine", "root@192.168.1.10"
  Facts board;       // the machine: system, release, machine, product, cores, free_bytes
  std::vector<std::string> command;  // the application and its arguments
  Facts options;                     // options of collect as given: "--interval", "10"
  std::vector<RunModel> models;
  std::optional<int> application_exit_code;
  std::string application_signal;    // "SIGSEGV"; empty: no signal
  std::string application_ended_by;  // "time limit", "user"; empty: ended by itself
  double seconds = 0;                // run time; 0: unknown
  int exit_code = 0;                 // exit code of msprof
  RunLayout layout;
  RunRepeat repeat;

  // Returns the value of a board fact; empty if unknown.
  std::string board_fact(std::string_view name) const;
  // "Linux 4.19 aarch64, HiSilicon SS928V100"; unknown facts are omitted.
  std::string machine_text() const;
};

// Replaces possible secrets in a command line by "***": values of options and variables whose name
// contains "password", "token" and the like, variables set by `env`, and credentials in URLs.
std::vector<std::string> without_secrets(std::vector<std::string> words);

nlohmann::ordered_json run_json(const RunRecord& record);

std::string run_text(const RunRecord& record);

// Writes run.json atomically. Throws Error(cannot_write).
void write_run_record(const std::filesystem::path& capture, const RunRecord& record);

// Reads run.json. Returns nullopt if it is missing, invalid or has another schema. The file is
// untrusted input: values of the wrong type are ignored. If a file is present but cannot be used,
// `problem` (may be null) is set to the reason, such as "is not JSON".
std::optional<RunRecord> read_run_record(const std::filesystem::path& capture,
                                         std::string* problem = nullptr);

// Like read_run_record(), for the text of the file.
std::optional<RunRecord> parse_run_record(std::string_view text);

// "2026-11-23 11:06:12 UTC"; empty for a time outside the years 1970 to 9999.
std::string second_text(std::int64_t ns);

}  // namespace msprof
