// Project of a run: its executable, its folder, and the files that are copied to the folder of the
// run. Used by the collector and the hosts.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

// An executable and its project on this machine.
struct ProjectTarget {
  std::filesystem::path root;            // absolute, with links resolved
  std::filesystem::path main;            // relative to root
  std::filesystem::path working_folder;  // relative to root; empty: root itself
};

// Searches for `main` in `current`, then in `project`, never in PATH. The project folder is
// `project`, else the executable's folder, or its parent if that contains src/acl.json. The working
// folder is `current` if it is inside the project, else the executable's folder. Throws
// Error(nothing_to_do) naming what is missing.
ProjectTarget find_target(const std::string& main, const std::optional<std::string>& project,
                          const std::filesystem::path& current);

enum class EntryKind { folder, file, link };

struct ProjectEntry {
  std::filesystem::path path;  // relative to the project
  EntryKind kind = EntryKind::file;
  std::filesystem::path source;  // local file with the content
  std::string link;              // link target in the copy
  mode_t mode = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t size_bytes = 0;
};

struct Excluded {
  std::filesystem::path path;
  std::string reason;
  bool is_unexpected = false;  // reported to the user even without -v
};

struct Project {
  ProjectTarget target;
  std::vector<ProjectEntry> entries;  // folders before their contents
  std::vector<std::filesystem::path> acl_files;
  std::vector<Excluded> excluded;
  std::uint64_t file_count = 0;
  std::uint64_t bytes = 0;
  bool is_for_cann = false;   // the executable uses libascendcl
  std::string own_profiling;  // the function by which the executable profiles itself; empty: none
};

struct ScanOptions {
  std::vector<std::filesystem::path> never_copied;  // absolute folders: output, cache of the runs
  // Folders with files of earlier runs, and captures of --repeat. Neither they nor the same names
  // followed by "~2" and so on are copied.
  std::vector<std::filesystem::path> earlier_results;
  std::vector<std::filesystem::path> private_files;  // absolute: files with a board's login
  bool is_limited = true;                            // false if the user specified the project
  // False for a host that cannot access this machine's files: links that lead out of the project
  // are then excluded and reported.
  bool links_may_leave = true;
};

inline constexpr std::uint64_t kMaxFiles = 20'000;
inline constexpr std::uint64_t kMaxBytes = 2'000'000'000;

// Lists the contents of the copy. Excludes captures, version control, files with an [ssh_config]
// section, the folders of `options` and matches of .msprofignore. Throws Error(usage) above the
// limits, naming --project.
Project scan_project(const ProjectTarget& target, const ScanOptions& options);

// Returns true if `path` is `folder` or inside it; both must be absolute and normalized.
bool is_within(const std::filesystem::path& path, const std::filesystem::path& folder);

// Rules for what is never copied: captures, version control, logins of boards, matches of
// .msprofignore.
//
// A .msprofignore file has one pattern per line. '#' starts a comment, a trailing '/' matches only
// folders, a leading or inner '/' anchors at the project, '!' negates a match; the last match
// decides. '*' also matches '/'.
class IgnorePatterns {
 public:
  IgnorePatterns() = default;
  explicit IgnorePatterns(std::string_view text);
  bool match(const std::filesystem::path& relative, bool is_folder) const;

 private:
  struct Pattern {
    std::string glob;
    bool matches_folders_only = false;
    bool is_anchored = false;
    bool is_negated = false;
  };
  std::vector<Pattern> patterns_;
};

// Returns true for JOB* and PROF*, the names of captures.
bool is_capture_folder_name(std::string_view name);

// Returns true if the file contains a login: a line "[ssh_config]". Searches all small files, and
// larger ones if they are named like ini files.
bool holds_login(const std::filesystem::path& file, std::uint64_t size_bytes);

}  // namespace msprof
