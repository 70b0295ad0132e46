#include "collect/project.hpp"

#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/folder_listing.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "collect/file_tree.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Larger files are not searched for a login. Small sources and notes that only quote an
// [ssh_config] section are excluded, too; a run does not need them.
constexpr std::uint64_t kSmallFileBytes = 64 << 10;
constexpr std::uint64_t kIniFileBytes = 4 << 20;

// Matches "board.ini", "ssh.cfg", "board.ini.bak", "board.conf~".
bool is_named_like_ini(const fs::path& file) {
  const std::string name = lower_ascii(file.filename().string());
  for (const std::string_view extension : {".ini", ".cfg", ".conf"}) {
    const auto at = name.find(extension);
    if (at == std::string::npos) continue;
    const auto end = at + extension.size();
    if (end == name.size() || !std::isalnum(static_cast<unsigned char>(name[end]))) return true;
  }
  return false;
}

bool is_login_section(std::string_view line) {
  if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  line = trim(line);
  if (!line.starts_with('[')) return false;
  const auto end = line.find(']');
  if (end == std::string_view::npos) return false;
  return lower_ascii(trim(line.substr(1, end - 1))) == "ssh_config";
}

constexpr std::string_view kAclName = "acl.json";
constexpr std::string_view kIgnoreName = ".msprofignore";
constexpr std::string_view kLikeCapture = "name of a capture";
constexpr std::string_view kLeaves = "a link to outside the project";
constexpr std::uint64_t kIgnoreFileBytes = 1 << 20;
// Counting stops here: the exact number does not matter.
constexpr std::uint64_t kMaxCounted = 200'000;

fs::path real_folder(const fs::path& folder, std::string_view option) {
  std::error_code error;
  fs::path real = fs::canonical(folder, error);
  if (error || !fs::is_directory(real, error)) {
    throw Error(Exit::nothing_to_do, fmt::format("{} {}: {}", option, folder.string(),
                                                 error ? error.message() : "not a folder"));
  }
  return real;
}

// Resolves links in the folder part only: an executable that is a link stays one.
fs::path real_place(const fs::path& file) {
  return fs::weakly_canonical(file.parent_path()) / file.filename();
}

fs::path find_project(const fs::path& executable) {
  fs::path folder = executable.parent_path();
  fs::path parent = folder.parent_path();
  std::error_code error;
  if (parent != folder && fs::is_regular_file(parent / "src" / kAclName, error)) return parent;
  return folder;
}

void check_executable(const fs::path& file) {
  if (::access(file.c_str(), X_OK) == 0) return;
  throw Error(Exit::nothing_to_do, fmt::format("{} is not executable ({}); run chmod +x",
                                               file.string(), errno_text(errno)));
}

class Scanner {
 public:
  Scanner(const ProjectTarget& target, const ScanOptions& options) : options_(options) {
    project_.target = target;
    const fs::path file = target.root / kIgnoreName;
    std::error_code error;
    if (fs::is_regular_file(file, error)) {
      ignored_ = IgnorePatterns(read_text_file(file, kIgnoreFileBytes));
    }
  }

  Project scan() {
    walk_tree(
        project_.target.root,
        [this](const fs::path& path, const struct stat& status) { return visit(path, status); },
        [this](const fs::path& path, int error_number) { pass_over(root() / path, error_number); });
    if (options_.is_limited) check_limits();
    return std::move(project_);
  }

 private:
  bool visit(const fs::path& path, const struct stat& status) {
    interrupt::check();
    Excluded excluded = {path, reason_to_exclude(path, status)};
    if (!excluded.reason.empty()) {
      const bool special =
          !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode) && !S_ISLNK(status.st_mode);
      excluded.is_unexpected = special || (excluded.reason == kLikeCapture && !is_capture(path));
      project_.excluded.push_back(std::move(excluded));
      return false;
    }
    if (S_ISLNK(status.st_mode)) {
      add_link(path, status);
      return false;
    }
    add(path, S_ISDIR(status.st_mode) ? EntryKind::folder : EntryKind::file, root() / path, status);
    return true;
  }

  std::string reason_to_exclude(const fs::path& path, const struct stat& status) const {
    const std::string name = path.filename().string();
    const fs::path full = root() / path;
    struct stat followed = {};
    const bool exists = ::stat(full.c_str(), &followed) == 0;
    const bool is_folder = exists && S_ISDIR(followed.st_mode);
    if (name == ".git") return "version control";
    if (is_folder && is_capture_folder_name(name)) return std::string(kLikeCapture);
    if (name.starts_with('.') && name.ends_with(".msprof-tmp")) return "temporary";
    const auto& never = options_.never_copied;
    if (std::find(never.begin(), never.end(), full) != never.end() || is_earlier_result(full)) {
      return "results of msprof";
    }
    if (ignored_.match(path, is_folder)) return std::string(kIgnoreName);
    if (S_ISDIR(status.st_mode)) return "";
    if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) return "not a file";
    if (is_private(full)) return "the login data of a board";
    if (exists && S_ISREG(followed.st_mode) &&
        holds_login(full, static_cast<std::uint64_t>(followed.st_size))) {
      return "contains [ssh_config]";
    }
    return "";
  }

  bool is_private(const fs::path& full) const {
    std::error_code error;
    return std::any_of(options_.private_files.begin(), options_.private_files.end(),
                       [&](const fs::path& file) { return fs::equivalent(full, file, error); });
  }

  bool is_earlier_result(const fs::path& full) const {
    const auto& earlier = options_.earlier_results;
    return std::any_of(earlier.begin(), earlier.end(), [&](const fs::path& folder) {
      return full == folder || full.string().starts_with(folder.string() + "~");
    });
  }

  bool is_capture(const fs::path& path) const {
    std::error_code error;
    for (const char* name : {"data", "host", "info.json.0", "info.json"}) {
      if (fs::exists(root() / path / name, error)) return true;
    }
    return path.extension() == ".files";
  }

  void add(const fs::path& path, EntryKind kind, const fs::path& source, const struct stat& status,
           const std::string& link = "") {
    ProjectEntry entry = {path, kind, source, link, status.st_mode & 0777, mtime_ns(status), 0};
    if (kind == EntryKind::file) {
      entry.size_bytes = static_cast<std::uint64_t>(status.st_size);
      project_.bytes += entry.size_bytes;
      if (path.filename() == kAclName) project_.acl_files.push_back(path);
    }
    if (kind != EntryKind::folder) ++project_.file_count;
    if (options_.is_limited && project_.file_count > kMaxCounted) check_limits();
    project_.entries.push_back(std::move(entry));
  }

  void add_link(const fs::path& path, const struct stat& status) {
    std::error_code error;
    const fs::path text = fs::read_symlink(root() / path, error);
    const fs::path folder = (root() / path).parent_path();
    const fs::path named = folder / text;
    fs::path real = fs::weakly_canonical(named, error);
    if (error) real = named.lexically_normal();  // in a link loop or an inaccessible folder
    struct stat target = {};
    const bool exists = ::stat(real.c_str(), &target) == 0;

    // The copy gets a separate acl.json, never a link to the original, because it is patched.
    if (exists && S_ISREG(target.st_mode) && path.filename() == kAclName) {
      add(path, EntryKind::file, real, target);
    } else if (!is_within(real, root()) && !options_.links_may_leave) {
      project_.excluded.push_back({path, std::string(kLeaves), true});
    } else if (!is_within(real, root())) {
      if (exists && S_ISDIR(target.st_mode) && fs::exists(real / kAclName, error)) {
        add_folder_of_links(path, real, target);
      } else {
        add(path, EntryKind::link, "", status, text.is_absolute() ? text : real);
      }
    } else if (text.is_relative() && is_within(named.lexically_normal(), root())) {
      add(path, EntryKind::link, "", status, text);
    } else {
      add(path, EntryKind::link, "", status, real.lexically_relative(folder));
    }
  }

  // Handles a link to a folder outside the project that contains an acl.json: creates a folder with
  // links to its other entries.
  void add_folder_of_links(const fs::path& path, const fs::path& real, const struct stat& status) {
    add(path, EntryKind::folder, "", status);
    const auto add_child = [&](const fs::path& name, const struct stat& child) {
      if (name == kAclName && S_ISREG(child.st_mode)) {
        add(path / name, EntryKind::file, real / name, child);
      } else {
        add(path / name, EntryKind::link, "", child, real / name);
      }
      return false;
    };
    walk_tree(real, add_child, [&](const fs::path& name, int error_number) {
      pass_over(real / name, error_number);
    });
  }

  // Skips files that the user may not read. Throws for other errors, which are failures of the disk
  // or of this process: the copy would be incomplete.
  static void pass_over(const fs::path& folder, int error_number) {
    if (error_number != EACCES && error_number != EPERM && error_number != ENOENT)
      throw Error(Exit::partial_data, listing_problem(folder, error_number));
    log::warn("not copied: {}: {}", folder.string(), errno_text(error_number));
  }

  void check_limits() const {
    if (project_.file_count <= kMaxFiles && project_.bytes <= kMaxBytes) return;
    throw Error(
        Exit::usage,
        fmt::format(
            "the run would copy {}, which contains {}{} files ({}); to copy more than {} files or "
            "{}, give the folder with --project DIR (a .msprofignore file can exclude parts)",
            root().string(), project_.file_count > kMaxCounted ? "more than " : "",
            with_thousands(std::min(project_.file_count, kMaxCounted)), human_bytes(project_.bytes),
            with_thousands(kMaxFiles), human_bytes(kMaxBytes)));
  }

  const fs::path& root() const { return project_.target.root; }

  const ScanOptions& options_;
  IgnorePatterns ignored_;
  Project project_;
};

}  // namespace

IgnorePatterns::IgnorePatterns(std::string_view text) {
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (line.empty() || line.starts_with('#')) continue;
    Pattern pattern;
    if (line.starts_with('!')) {
      pattern.is_negated = true;
      line.remove_prefix(1);
    }
    if (line.ends_with('/')) {
      pattern.matches_folders_only = true;
      line.remove_suffix(1);
    }
    pattern.is_anchored = line.find('/') != std::string_view::npos;
    if (line.starts_with('/')) line.remove_prefix(1);
    if (line.starts_with("./")) line.remove_prefix(2);
    if (line.empty()) continue;
    pattern.glob = line;
    patterns_.push_back(std::move(pattern));
  }
}

bool IgnorePatterns::match(const fs::path& relative, bool is_folder) const {
  bool matched = false;
  for (const Pattern& pattern : patterns_) {
    if (pattern.matches_folders_only && !is_folder) continue;
    const fs::path subject = pattern.is_anchored ? relative : relative.filename();
    if (::fnmatch(pattern.glob.c_str(), subject.c_str(), 0) == 0) matched = !pattern.is_negated;
  }
  return matched;
}

bool is_capture_folder_name(std::string_view name) {
  return name.starts_with("JOB") || name.starts_with("PROF");
}

bool holds_login(const fs::path& file, std::uint64_t size_bytes) {
  if (size_bytes > (is_named_like_ini(file) ? kIniFileBytes : kSmallFileBytes)) return false;
  try {
    const std::string text = read_text_file(file, kIniFileBytes);
    // Old editors use a single '\r' as line end.
    for (const std::string_view line : split(text, '\n')) {
      const auto parts = split(line, '\r');
      if (std::any_of(parts.begin(), parts.end(), is_login_section)) return true;
    }
  } catch (const Error&) {
    // An unreadable file is not copied, and the copy reports it. Rethrows other errors: the file
    // might be readable later and be copied with a password in it.
    if (::access(file.c_str(), R_OK) == 0) throw;
  }
  return false;
}

bool is_within(const fs::path& path, const fs::path& folder) {
  const auto [in_folder, in_path] =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return in_folder == folder.end();
}

ProjectTarget find_target(const std::string& main, const std::optional<std::string>& project,
                          const fs::path& current) {
  std::optional<fs::path> root;
  if (project) root = real_folder(current / *project, "--project");
  std::vector<fs::path> candidates = {current / main};
  if (root) candidates.push_back(*root / main);

  std::string why = "no such file in the current folder";
  why += root ? " or in --project" : "; give another folder with --project DIR";
  std::error_code error;
  for (const fs::path& candidate : candidates) {
    if (!fs::exists(candidate, error)) continue;
    if (!fs::is_regular_file(candidate, error)) {
      why = candidate.string() + " is not a file";
      continue;
    }
    const fs::path file = real_place(candidate);
    if (root && !is_within(file, *root)) {
      why = fmt::format("{} is outside --project {}", file.string(), root->string());
      continue;
    }
    check_executable(file);
    ProjectTarget target;
    target.root = root ? *root : find_project(file);
    target.main = file.lexically_relative(target.root);
    const fs::path here = fs::weakly_canonical(current);
    target.working_folder = is_within(here, target.root) ? here.lexically_relative(target.root)
                                                         : target.main.parent_path();
    if (target.working_folder == ".") target.working_folder.clear();
    return target;
  }
  throw Error(Exit::nothing_to_do, fmt::format("cannot run '{}': {}", main, why));
}

Project scan_project(const ProjectTarget& target, const ScanOptions& options) {
  Project project = Scanner(target, options).scan();
  const auto has = [&](const fs::path& path) {
    return std::any_of(project.entries.begin(), project.entries.end(),
                       [&](const ProjectEntry& entry) { return entry.path == path; });
  };
  if (!has(target.main)) {
    throw Error(Exit::nothing_to_do,
                fmt::format("{} would not be copied: it or one of its folders is excluded (JOB*, "
                            "PROF*, .git, --output, .msprofignore)",
                            (target.root / target.main).string()));
  }
  if (!target.working_folder.empty() && !has(target.working_folder)) {
    project.target.working_folder = target.main.parent_path();
  }
  return project;
}

}  // namespace msprof
