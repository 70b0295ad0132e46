// PartFolder manages the output folder of a run over many captures: one rank summary (part) per
// capture, the state it was made from, and logs.
//
//   parts/NAME/rank.part    the rank summary (msprof rank)
//   parts/NAME/rank.state   JSON: what the part was made from
//   parts/NAME/rank.log     output of msprof rank
//   parts/NAME/parquet.*    state and log of msprof export parquet, whose files are elsewhere
//
// Each capture needs its own folder, because the writer of a part deletes files left by killed
// processes, recognised by process id, and process ids of other nodes have no meaning here.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cluster/run/capture_search.hpp"

namespace msprof::cluster {

enum class PartOutcome {
  current,  // the part existed and matches the raw files
  made,
  partial,  // the part was made, but the capture has lost or damaged data
  failed,   // there is no part
};

// The result for one capture.
struct CaptureResult {
  ClusterCapture capture;
  std::filesystem::path part;  // absolute path, even if there is no part
  PartOutcome outcome = PartOutcome::failed;
  Exit exit = Exit::ok;  // exit code of the program that made it
  std::string reason;    // error as a sentence, if it failed
  std::string node;      // node on which it was made; empty: this machine
  std::string lacks;     // error if the requested Parquet files were not written

  bool has_part() const { return outcome != PartOutcome::failed; }
};

class PartFolder {
 public:
  // Creates the folder. Throws Error(cannot_write).
  explicit PartFolder(const std::filesystem::path& output);

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path part_path(const ClusterCapture& capture) const;
  std::filesystem::path log_path(const ClusterCapture& capture) const;

  // Returns a text that changes if the raw files, the rank or the version of msprof change; empty
  // if the capture cannot be opened.
  static std::string fingerprint(const ClusterCapture& capture);

  // Returns the existing part of `capture`, with outcome `current` or `partial`, if it was made
  // from the same raw files.
  std::optional<CaptureResult> find_current(const ClusterCapture& capture,
                                            const std::string& fingerprint) const;
  // Records that the part of `result` was made from the files described by `fingerprint`.
  void remember(const CaptureResult& result, const std::string& fingerprint) const;
  // The same for the Parquet files of a capture in `data_set`.
  std::filesystem::path parquet_log_path(const ClusterCapture& capture) const;
  bool has_parquet(const ClusterCapture& capture, const std::string& fingerprint,
                   const std::filesystem::path& data_set) const;
  void remember_parquet(const ClusterCapture& capture, const std::string& fingerprint,
                        const std::filesystem::path& data_set) const;

  // Prepares the folder for a new part: creates it and deletes the outdated part, its state and
  // files left by killed processes.
  void begin(const ClusterCapture& capture) const;

 private:
  std::filesystem::path capture_folder(const ClusterCapture& capture) const;
  std::filesystem::path folder_;
};

// Convert a path to UTF-8 text for JSON, one character per byte, and back.
std::string path_to_utf8(const std::filesystem::path& path);
std::filesystem::path utf8_to_path(const std::string& text);

// Convert results and captures to and from JSON, for files exchanged between processes of a run.
// Parsing throws nlohmann::json exceptions for invalid lists; see parse_json().
nlohmann::json as_json(const std::vector<CaptureResult>& results);
nlohmann::json as_json(const std::vector<ClusterCapture>& captures);
std::vector<CaptureResult> parse_results(const nlohmann::json& list);
std::vector<ClusterCapture> parse_captures(const nlohmann::json& list);

}  // namespace msprof::cluster
