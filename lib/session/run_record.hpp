// RunRecord: when, where and with what a capture was made: the file run.json in its folder. Written
// by `collect`; read wherever a capture says what it is. Captures from elsewhere have none.
//
// {"schema": "msprof.run/1", "msprof": "0.3.0", "begin": "2026-11-23T11:06:12.345Z", "end": …,
//  "host": "root@192.168.1.10", "board": {"system": "Linux", "machine": "aarch64", …},
//  "command": ["main", "--images", "100"], "options": {"--interval": "10"},
//  "models": [{"file": "models/a.om", "bytes": 4096, "sha256": "…"}],
//  "application": {"seconds": 1.5, "exit_code": 0}, "exit_code": 0,
//  "layout": {"file": "ss928.json", "source": "--layout", "json": {…}},
//  "repeat": {"run": 2, "of": 5, "warm_up": false}}
// A key without a value is left out. No password and no variable of the environment is in it.
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
  std::string file;  // relative to the project
  std::uint64_t bytes = 0;
  std::string sha256;  // lower case; empty: not computed
};

// What the records of a board were described by.
struct RunLayout {
  std::string file;
  std::string source;    // "--layout"
  std::string json;      // the description itself; empty: none
  std::string origin{};  // "inferred": found by a search, "described"; empty: not used yet
};

// Which of several runs of the same thing it was (--repeat).
struct RunRepeat {
  int run = 0;  // from 1; 0: there was one run
  int of = 0;
  bool is_warm_up = false;  // counted apart, not to be compared

  // "run 2 of 5", "warm-up 1 of 1"; empty: there was one run.
  std::string text() const;
};

struct RunRecord {
  using Facts = std::vector<std::pair<std::string, std::string>>;

  std::string msprof;  // version
  std::int64_t begin_ns =
      0;  // of the application, since 1970, UTC, on the machine of msprof; 0: unknown
  std::int64_t end_ns = 0;
  std::string host;  // "this machine", "root@192.168.1.10"
  Facts board;  // of the machine that ran it: system, release, machine, product, cores, free_bytes
  std::vector<std::string> command;  // the application with its arguments
  Facts options;                     // of collect, as given: "--interval", "10"
  std::vector<RunModel> models;
  std::optional<int> application_exit_code;
  std::string application_signal;    // "SIGSEGV"; empty: none
  std::string application_ended_by;  // "time limit", "user"; empty: itself
  double seconds = 0;                // that it ran; 0: unknown
  int exit_code = 0;                 // of msprof
  RunLayout layout;
  RunRepeat repeat;

  // Value of a fact; empty: unknown.
  std::string board_fact(std::string_view name) const;
  // "Linux 4.19 aarch64, HiSilicon SS928V100", as far as it is known.
  std::string machine_text() const;
};

// What of the words of a command may hold a secret is replaced by "***": values of options and
// variables with "password", "token" and the like in their name, what `env` sets, the login in the
// address of a server.
std::vector<std::string> without_secrets(std::vector<std::string> words);

// The document of run.json.
nlohmann::ordered_json run_json(const RunRecord& record);

// Its text.
std::string run_text(const RunRecord& record);

// Writes run.json, whole or not at all. Throws Error(cannot_write).
void write_run_record(const std::filesystem::path& capture, const RunRecord& record);

// Reads it; empty where there is none, or none of this schema. What is no text or no number of it
// is left out: a capture comes from elsewhere. `problem`, where given, becomes why a file that is
// there is not read: "is not JSON"; empty: nothing is wrong.
std::optional<RunRecord> read_run_record(const std::filesystem::path& capture,
                                         std::string* problem = nullptr);

// The same of its text.
std::optional<RunRecord> run_record_of_text(std::string_view text);

// "2026-11-23 11:06:12 UTC", for documents; empty for a time outside the years 1970 to 9999.
std::string second_text(std::int64_t ns);

}  // namespace msprof
