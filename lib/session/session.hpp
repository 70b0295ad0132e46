// Session represents a capture folder for import: its dialect and its raw files. Also finds the
// captures that a command works on: those given by -dir, or the newest nearby. The dialect is
// determined once, from the folder's content.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/findings.hpp"
#include "session/capture_folders.hpp"
#include "store/raw_file_state.hpp"

namespace msprof {

enum class Dialect {
  svp,      // JOB folders of SVP boards and of our runtime
  cann,     // PROF folders of CANN on Atlas machines
  classic,  // JOB folders of Ascend 310/910, 2019-2021
};

std::string_view dialect_name(Dialect dialect);

// Returns the dialect of a folder; nullopt if it is not a capture. Reads only names and info files.
// Throws Error(partial_data) if a folder cannot be listed and the answer depends on it.
std::optional<Dialect> recognise(const std::filesystem::path& folder);
// The same, but returns nullopt and adds a problem to `folders` instead of throwing.
std::optional<Dialect> recognise(const std::filesystem::path& folder, CaptureFolders& folders);

// Returns a sentence with the path that explains why the folder is not a readable capture. Requires
// that recognise() returns nullopt for the folder.
std::string why_not_a_capture(const std::filesystem::path& folder);

// Returns the error to report if `folder` contains folders named like captures (JOB…, PROF_…) and
// none of them is a capture; the text gives the reason for each. The exit code is partial_data if
// one of them cannot be listed. Otherwise returns nullopt.
std::optional<Error> why_none_is_a_capture(const std::filesystem::path& folder);

// A `.done` file: `key:value` lines, written next to a raw file when that is complete.
struct DoneFile {
  std::filesystem::path path;
  std::string name;                                         // path relative to the capture
  std::optional<std::uint64_t> file_len_bytes;              // empty: no valid file_len
  std::vector<std::pair<std::string, std::string>> values;  // all lines, unmodified

  std::optional<std::int64_t> integer(std::string_view key) const;
};

struct RawFile {
  std::filesystem::path path;
  std::string name;  // path relative to the capture
  std::uint64_t size_bytes = 0;
  std::optional<DoneFile> done;
  // True if the writer did not close the file: then records of zeros are unwritten space. Only for
  // the host runtime, which allocates files in advance.
  bool has_space = false;
};

// A finding about the folder itself; import reports it.
struct SessionFinding {
  FindingId id{};
  std::string kind;
  std::string file;
  std::string reason;
  std::string detail;
};

class Session {
 public:
  virtual ~Session() = default;

  // Opens a capture folder. Throws Error(nothing_to_do) if it is not a capture, Error(partial_data)
  // if it cannot be listed.
  static std::unique_ptr<Session> open(const std::filesystem::path& folder);

  Dialect dialect() const { return dialect_; }
  const std::filesystem::path& folder() const { return folder_; }
  // Returns the folder name for messages: "JOBXXX".
  std::string name() const;
  // Data and info files in a fixed order. A `.done` file is attached to its data file.
  const std::vector<RawFile>& raw_files() const { return raw_files_; }
  const std::vector<SessionFinding>& findings() const { return findings_; }
  // Returns the kind of data in a file: its name without class, device and slice.
  virtual std::string file_stem(const RawFile&) const { return {}; }
  // All files that the store depends on, including `.done` files, sorted by name.
  const std::vector<RawFileState>& file_states() const { return file_states_; }

 protected:
  Session(Dialect dialect, std::filesystem::path folder, CaptureFolders folders)
      : folders_(std::move(folders)), dialect_(dialect), folder_(std::move(folder)) {}

  // Adds the file to file_states(). Returns false and adds a finding if it is not a regular file or
  // is a link that leaves the capture.
  bool track(const std::filesystem::path& path, const std::string& name);
  DoneFile read_done(const std::filesystem::path& path, const std::string& name);
  // Must be called last by each constructor: sorts file_states() and reports listing errors.
  void finish();

  CaptureFolders folders_;
  std::vector<RawFile> raw_files_;
  std::vector<SessionFinding> findings_;
  std::vector<RawFileState> file_states_;

 private:
  Dialect dialect_;
  std::filesystem::path folder_;
};

// The last component of a folder's path, also for "." and "PROF_…/".
std::string own_name(const std::filesystem::path& folder);

// True for a capture's name: JOB… or PROF_…, but not JOB….files.
bool is_named_as_capture(std::string_view folder_name);

// Returns the start time in a name, local time with milliseconds: 20240515160507007 for
// PROF_000001_20240515160507007_XXXX.
std::optional<std::uint64_t> parse_time_in_name(const std::string& name);

// Finds the captures that match `patterns` (folders or globs), in the given order without
// duplicates. A folder that contains captures, directly or in framework folders (*_ascend_pt), is
// replaced by these captures; entries that look like captures but are not are logged as warnings.
// Wrong names do not throw, so that the other captures are still processed: a pattern without a
// match, a folder that cannot be listed, a run without data and an unreadable capture are returned
// as paths for which Session::open() throws.
std::vector<std::filesystem::path> find_captures(const std::vector<std::string>& patterns);

struct FoundCapture {
  std::filesystem::path folder;
  Dialect dialect = Dialect::svp;
};

// Returns when a capture was made, in ns since 1970: the time in its name (PROF), else the newest
// modification time of info.json.N (JOB), else that of the folder.
std::int64_t capture_time_ns(const std::filesystem::path& capture);

// Returns when the run of a capture started: from run.json, else capture_time_ns().
std::int64_t begin_time_ns(const std::filesystem::path& capture);

// Finds the capture to use without -dir: `folder` itself, else the newest below it by
// begin_time_ns(). Logs a warning for newer folders that were skipped. Throws Error(nothing_to_do)
// if there is no capture.
std::filesystem::path newest_capture(const std::filesystem::path& folder);

}  // namespace msprof
