// Session: a capture folder as import sees it: which dialect it speaks and which raw files it has;
// and the captures that a command works on: those of -dir, or the newest one around.
// For import and the verbs. The dialect is decided here, once, by content.
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
  svp,      // JOB folders of SVP boards, and of our own runtime
  cann,     // PROF folders of CANN on Atlas machines
  classic,  // JOB folders of Ascend 310/910, 2019-2021
};

std::string_view dialect_name(Dialect dialect);

// Returns the dialect of a folder; empty when it is no capture. Reads names and info files only.
// Throws Error(partial_data) when it is not known whether it is one, because a folder cannot be
// listed.
std::optional<Dialect> recognise(const std::filesystem::path& folder);
// The same; empty, with a problem in `folders`, where the other throws.
std::optional<Dialect> recognise(const std::filesystem::path& folder, CaptureFolders& folders);

// Why a folder is no capture that can be read, as a sentence with its path. For one that
// recognise() does not know.
std::string why_not_a_capture(const std::filesystem::path& folder);

// What a command that finds no capture in `folder` ends with, if there are folders called like
// captures (JOB…, PROF_…) in it and none of them is one: what is wrong with each; partial_data if
// one of them cannot be listed. Else empty.
std::optional<Error> why_none_is_a_capture(const std::filesystem::path& folder);

// Text of `key:value` lines beside a raw file, written when it is complete.
struct DoneFile {
  std::filesystem::path path;
  std::string name;                                         // relative to the capture
  std::optional<std::uint64_t> file_len_bytes;              // empty: the text could not be read
  std::vector<std::pair<std::string, std::string>> values;  // all lines, as they are

  std::optional<std::int64_t> integer(std::string_view key) const;
};

struct RawFile {
  std::filesystem::path path;
  std::string name;  // relative to the capture
  std::uint64_t size_bytes = 0;
  std::optional<DoneFile> done;
  // Its writer had not closed it: zeros in the place of a record are space not yet written. Of the
  // host runtime, which makes its files larger than they are yet.
  bool has_space = false;
};

// Finding about the folder itself, for import to report.
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

  // Opens a capture folder. Throws Error(nothing_to_do) with a sentence when it is none, and
  // Error(partial_data) when it cannot be listed.
  static std::unique_ptr<Session> open(const std::filesystem::path& folder);

  Dialect dialect() const { return dialect_; }
  const std::filesystem::path& folder() const { return folder_; }
  // The folder's own name, "JOBXXX", for messages.
  std::string name() const;
  // Data and info files in a fixed order; `.done` files are with their data.
  const std::vector<RawFile>& raw_files() const { return raw_files_; }
  const std::vector<SessionFinding>& findings() const { return findings_; }
  // Kind of a file's data, by its name alone: without class, device and slice.
  virtual std::string stem_of(const RawFile&) const { return {}; }
  // Every file that the store depends on, `.done` files too, sorted by name.
  const std::vector<RawFileState>& file_states() const { return file_states_; }

 protected:
  Session(Dialect dialect, std::filesystem::path folder, CaptureFolders folders)
      : folders_(std::move(folders)), dialect_(dialect), folder_(std::move(folder)) {}

  // Adds the file to file_states(); false, with a finding, when it is not a regular file within the
  // capture.
  bool track(const std::filesystem::path& path, const std::string& name);
  DoneFile read_done(const std::filesystem::path& path, const std::string& name);
  // Ends a constructor: sorts file_states(), and reports what could not be listed.
  void finish();

  CaptureFolders folders_;
  std::vector<RawFile> raw_files_;
  std::vector<SessionFinding> findings_;
  std::vector<RawFileState> file_states_;

 private:
  Dialect dialect_;
  std::filesystem::path folder_;
};

// The last name of a folder's path, also of "." and "PROF_…/".
std::string own_name(const std::filesystem::path& folder);

// True if a folder with this name is meant as a capture: JOB…, PROF_…; not JOB….files.
bool is_named_as_capture(std::string_view folder_name);

// 20240515160507007 of PROF_000001_20240515160507007_XXXX: the begin as the collecting machine's
// local time, with milliseconds.
std::optional<std::uint64_t> time_in_name(const std::string& name);

// Finds the captures that `patterns` (folders or globs) name, in the order given, each once. A
// folder that holds captures, or folders of a framework's profiler
// (*_ascend_pt) with captures in them, stands for all of them; those in it that are no captures are
// warned of. A pattern that names none, a folder that cannot be listed, and a run without data or
// an unreadable capture that a glob matches, is in the list as a path that Session::open refuses
// with a sentence, so that one wrong name does not stop the others.
std::vector<std::filesystem::path> find_captures(const std::vector<std::string>& patterns);

// A capture below a folder, as walk_captures() finds them.
struct FoundCapture {
  std::filesystem::path folder;
  Dialect dialect = Dialect::svp;
};

// When a capture was made, as far as its folder says it, in ns since 1970: by the time in its name
// (PROF), of info.json.N (JOB), else of the folder.
std::int64_t capture_time_ns(const std::filesystem::path& capture);

// When the run of a capture began, as far as is known: by run.json, else capture_time_ns().
std::int64_t begin_time_ns(const std::filesystem::path& capture);

// Finds the capture without -dir: `folder` itself, else the newest that walk_captures() finds, by
// begin_time_ns(). Warns of skipped folders that are newer. Throws Error(nothing_to_do) where there
// is none.
std::filesystem::path newest_capture(const std::filesystem::path& folder);

}  // namespace msprof
