// PartFolder: the output folder of a run over many captures: a part a capture, what it was made of,
// and logs. For the runs.
//
//   parts/NAME/rank.part    the partial result (msprof rank)
//   parts/NAME/rank.state   JSON: what the part was made of
//   parts/NAME/rank.log     what msprof rank printed
//   parts/NAME/parquet.*    the same of msprof export parquet, whose files are elsewhere
//
// A folder a capture: who writes a part removes what killed programs left beside it, and tells them
// by process numbers, which mean nothing to another node.
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
  current,  // it was there already, of the same raw files
  made,
  partial,  // made, of a capture with lost or damaged data
  failed,   // there is none
};

// What became of one capture.
struct CaptureResult {
  FoundCapture capture;
  std::filesystem::path part;  // absolute; also where there is none
  PartOutcome outcome = PartOutcome::failed;
  Exit exit = Exit::ok;  // of what made it
  std::string reason;    // where it failed: a sentence
  std::string node;      // where it was made; empty: here
  std::string lacks;     // why there are no Parquet files of it, where they were wanted

  bool has_part() const { return outcome != PartOutcome::failed; }
};

class PartFolder {
 public:
  // Makes the folder. Throws Error(cannot_write).
  explicit PartFolder(const std::filesystem::path& output);

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path part_of(const FoundCapture& capture) const;
  std::filesystem::path log_of(const FoundCapture& capture) const;

  // A text that changes when a raw file, the rank or the version of msprof does; empty for a
  // capture that cannot be opened.
  static std::string fingerprint(const FoundCapture& capture);

  // What stands there of `capture`, with outcome `current` or `partial`, if it was made of the raw
  // files as they are.
  std::optional<CaptureResult> current(const FoundCapture& capture,
                                       const std::string& fingerprint) const;
  // Says that the part of `result` was made of what `fingerprint` stands for.
  void remember(const CaptureResult& result, const std::string& fingerprint) const;
  // The same of the Parquet files in `data_set`.
  std::filesystem::path parquet_log_of(const FoundCapture& capture) const;
  bool has_parquet(const FoundCapture& capture, const std::string& fingerprint,
                   const std::filesystem::path& data_set) const;
  void remember_parquet(const FoundCapture& capture, const std::string& fingerprint,
                        const std::filesystem::path& data_set) const;

  // Removes a part that is not of the capture as it is, with what says so and what killed programs
  // left, and makes the folder for a new one.
  void begin(const FoundCapture& capture) const;

 private:
  std::filesystem::path place_of(const FoundCapture& capture) const;
  std::filesystem::path folder_;
};

// A path as UTF-8 text, every byte a character, for JSON; and back.
std::string utf8_of_path(const std::filesystem::path& path);
std::filesystem::path path_of_utf8(const std::string& text);

// Results and captures as JSON, for what processes of a run leave for each other in files, and
// back. A list that is none throws what nlohmann::json throws: see parse_json().
nlohmann::json json_of(const std::vector<CaptureResult>& results);
nlohmann::json json_of(const std::vector<FoundCapture>& captures);
std::vector<CaptureResult> results_of(const nlohmann::json& list);
std::vector<FoundCapture> captures_of(const nlohmann::json& list);

}  // namespace msprof::cluster
