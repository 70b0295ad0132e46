#include "collect/arrival.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <iterator>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/folder_listing.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "collect/file_tree.hpp"
#include "collect/moved_results.hpp"
#include "collect/run_changes.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxNameBytes = 200;
constexpr std::string_view kDone = ".done";
constexpr std::uint64_t kMaxDoneBytes = 4096;
constexpr int kMaxSuffixes = 10'000;
// Subfolders of a staging folder into which applications record directly; other subfolders contain
// copies, unless kMovedMark exists.
constexpr std::string_view kRecordedInto[] = {"remote/profiling", "dynamic"};

// Like rename(2), but never replaces an existing file.
int rename_to_new(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // Fallback for file systems without RENAME_NOREPLACE.
  struct stat there = {};
  if (::lstat(to.c_str(), &there) == 0) return EEXIST;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

// Renames `source` to `name` in `output`, or "name~2", "name~3", … if that exists.
fs::path publish_into(const fs::path& output, const fs::path& source, const std::string& name) {
  for (int number = 1; number < kMaxSuffixes; ++number) {
    fs::path target = output / (name + name_suffix(number));
    const int error = rename_to_new(source, target);
    if (error == 0) return target;
    if (error != EEXIST && error != ENOTEMPTY) throw_cannot_write(target, error);
  }
  throw_cannot_write(output / name, EEXIST);
}

// Publishes captures in `stale`, the staging folder of a killed msprof: there is no other copy.
// Returns false if some may still be in it.
bool rescue_captures(const fs::path& stale, const fs::path& output) {
  bool is_whole = true;
  std::error_code ignored;
  std::vector<std::string_view> folders(std::begin(kRecordedInto), std::end(kRecordedInto));
  const bool is_moved = fs::exists(stale / kMovedMark, ignored);
  if (is_moved) folders.emplace_back("captures");
  const auto save = [&](const fs::path& source, const std::string& name) {
    const fs::path saved = publish_into(output, source, name);
    log::warn("kept from an earlier run whose msprof was killed: {}", saved.string());
  };
  for (const std::string_view folder : folders) {
    const fs::path root = stale / folder;
    std::vector<std::string> captures;
    const TreeListing listing = list_tree(root);
    is_whole = is_whole && listing.trouble.empty();
    for (const auto& [path, file] : listing.files) {
      const bool is_inside = !captures.empty() && is_below(path, captures.back());
      if (!is_inside && file.is_folder() && is_capture_name(fs::path(path).filename().string()))
        captures.push_back(path);
    }
    for (const std::string& path : captures) {
      if (!has_data_folder(root / path)) continue;
      drop_special_files(root / path);
      save(root / path, fs::path(path).filename().string());
    }
  }
  if (is_moved && !fs::is_empty(stale / "files", ignored) && !ignored)
    save(stale / "files", kKilledFiles);
  return is_whole;
}

const fs::path& made_folder(const fs::path& folder) {
  create_output_folder(folder);
  return folder;
}

// Removes the staging folder of a killed msprof; returns false if a capture may still be in it.
bool clear_staging(const fs::path& stale, const fs::path& output) {
  if (!rescue_captures(stale, output)) return false;
  remove_tree(stale);
  return true;
}

// Size in a `.done` file: boards write file_len, older CANN releases filesize.
std::optional<std::uint64_t> parse_announced_size(std::string_view text) {
  for (const std::string_view line : split(text, '\n')) {
    const auto at = line.find(':');
    if (at == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, at));
    std::uint64_t size = 0;
    if ((key == "file_len" || key == "filesize") && parse_u64(trim(line.substr(at + 1)), size)) {
      return size;
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_capture_name(std::string_view name) {
  if (!name.starts_with("JOB") && !name.starts_with("PROF_")) return false;
  return name.size() <= kMaxNameBytes && std::all_of(name.begin(), name.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
         });
}

std::uint64_t drop_special_files(const fs::path& root) {
  std::vector<fs::path> special;
  const auto visit = [&](const fs::path& path, const struct stat& status) {
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) special.push_back(root / path);
    return true;
  };
  walk_tree(root, visit, [](const fs::path&, int) {});
  for (const fs::path& path : special) ::unlink(path.c_str());
  return special.size();
}

std::uint64_t tree_bytes(const fs::path& root) {
  std::uint64_t bytes = 0;
  for (const auto& [path, file] : list_tree(root).files)
    bytes += file.is_file() ? file.size_bytes : 0;
  return bytes;
}

bool has_data_folder(const fs::path& capture) {
  const auto holds_data = [&](const fs::path& folder) {
    const FolderListing data = list_folder(folder / "data");
    return data.is_cut() || !data.entries.empty();
  };
  if (holds_data(capture)) return true;
  // A PROF folder contains a folder for the host and one for each device.
  const FolderListing parts = list_folder(capture);
  return parts.is_cut() ||
         std::any_of(parts.entries.begin(), parts.entries.end(), [&](const FolderEntry& entry) {
           return (entry.name == "host" || entry.name.starts_with("device_")) &&
                  holds_data(capture / entry.name);
         });
}

std::vector<std::string> check_done_files(const fs::path& capture) {
  std::vector<std::string> notes;
  const TreeListing listing = list_tree(capture);
  if (!listing.trouble.empty()) notes.push_back(listing.trouble);
  for (const auto& [path, file] : listing.files) {
    fs::path data = path;
    if (!file.is_file() || data.extension() != kDone || file.size_bytes > kMaxDoneBytes) continue;
    const auto announced = parse_announced_size(read_text_file(capture / path, kMaxDoneBytes));
    if (!announced) continue;
    std::error_code error;
    data.replace_extension();
    const std::uintmax_t size = fs::file_size(capture / data, error);
    if (!error && size == *announced) continue;
    notes.push_back(fmt::format(
        "{}: expected {} bytes from its .done, {}", printable((capture.filename() / data).string()),
        with_thousands(*announced),
        error ? std::string("but the file is missing") : "got " + with_thousands(size)));
  }
  return notes;
}

std::optional<std::uint64_t> read_free_bytes(const fs::path& folder) {
  struct statvfs space = {};
  if (::statvfs(folder.c_str(), &space) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
}

Staging::Staging(const fs::path& output)
    : output_(made_folder(output)), folder_(output / "collect", [&](const fs::path& stale) {
        return clear_staging(stale, output);
      }) {}

Staging::~Staging() {
  remove_tree(path());
}

fs::path Staging::publish(const fs::path& source, const std::string& name) const {
  return publish_into(output_, source, name);
}

}  // namespace msprof
