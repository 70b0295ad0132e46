// What of a project is never copied: captures, version control, logins of boards, what
// .msprofignore names. For scan_project.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

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

// The file holds a login: a line "[ssh_config]". Looked for in every small file and in all that are
// named like ini files.
bool holds_login(const std::filesystem::path& file, std::uint64_t size_bytes);

}  // namespace msprof
