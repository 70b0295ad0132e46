// Project of a run: its executable, the folder that goes with it, and those of its files that are
// copied to the folder of the run. For the collector and the hosts.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

// The executable and its project, found on this machine.
struct Target {
  std::filesystem::path root;            // absolute, without links
  std::filesystem::path main;            // relative to root
  std::filesystem::path working_folder;  // relative to root; empty: root itself
};

// Looks `main` up in `current`, then in `project`, never in PATH. The project is `project`, else
// the executable's folder, or that folder's parent where the parent has src/acl.json. The working
// folder is `current` where it lies in the project, else the executable's folder.
// Throws Error(nothing_to_do) naming what is missing.
Target find_target(const std::string& main, const std::optional<std::string>& project,
                   const std::filesystem::path& current);

enum class EntryKind { folder, file, link };

struct ProjectEntry {
  std::filesystem::path path;  // relative to the project
  EntryKind kind = EntryKind::file;
  std::filesystem::path source;  // the file whose bytes it has
  std::string link;              // target of a link in the copy
  mode_t mode = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t size_bytes = 0;
};

struct Excluded {
  std::filesystem::path path;
  std::string reason;
  bool unexpected = false;  // to be reported to the user unasked
};

struct Project {
  Target target;
  std::vector<ProjectEntry> entries;  // folders before what they hold
  std::vector<std::filesystem::path> acl_files;
  std::vector<Excluded> excluded;
  std::uint64_t file_count = 0;
  std::uint64_t bytes = 0;
  bool is_for_cann = false;   // the executable brings libascendcl in
  std::string own_profiling;  // the function by which the executable profiles itself; empty: none
};

struct ScanOptions {
  std::vector<std::filesystem::path> never_copied;  // absolute folders: output, cache of the runs
  // Folders where earlier runs put their files, and captures of --repeat; not copied either, nor
  // with "~2" and so on behind them.
  std::vector<std::filesystem::path> earlier_results;
  std::vector<std::filesystem::path> private_files;  // absolute: the file with a board's login
  bool limited = true;  // false when the user named the project himself
  // False for a host that does not see this machine's files: links that lead out of the project are
  // then left out, and named.
  bool links_may_leave = true;
};

inline constexpr std::uint64_t kMaxFiles = 20'000;
inline constexpr std::uint64_t kMaxBytes = 2'000'000'000;

// Lists the contents of the copy. Captures, version control, files with an [ssh_config] section,
// the folders of `options` and what .msprofignore names are left out. Throws Error(usage) above the
// limits, naming --project.
Project scan_project(const Target& target, const ScanOptions& options);

// True if `path` is `folder` or lies in it; both absolute and normal.
bool is_within(const std::filesystem::path& path, const std::filesystem::path& folder);

// Rules for what is never copied: captures, version control, logins of boards, what
// .msprofignore names.
//
// The patterns of a .msprofignore file: one a line, '#' starts a comment, a '/' at the end means
// folders only, a leading or inner '/' anchors at the project, '!' takes a match back, the last
// match decides. '*' also matches '/'.
class IgnorePatterns {
 public:
  IgnorePatterns() = default;
  explicit IgnorePatterns(std::string_view text);
  bool match(const std::filesystem::path& relative, bool is_folder) const;

 private:
  struct Pattern {
    std::string glob;
    bool folders_only = false;
    bool anchored = false;
    bool negated = false;
  };
  std::vector<Pattern> patterns_;
};

// Folders named JOB* and PROF* are captures.
bool is_capture_folder_name(std::string_view name);

// True if the file holds a login: a line "[ssh_config]". Searched in every small file and in all
// that are named like ini files.
bool holds_login(const std::filesystem::path& file, std::uint64_t size_bytes);

}  // namespace msprof
