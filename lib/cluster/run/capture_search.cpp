#include "cluster/run/capture_search.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/folder_listing.hpp"
#include "base/foreign_error.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "session/cann_session.hpp"
#include "session/capture_walk.hpp"
#include "session/session.hpp"

namespace msprof::cluster {

namespace fs = std::filesystem;

namespace {

// Returns the ranks recorded for the capture's devices; empty if it cannot be read as a capture.
std::set<std::int64_t> own_ranks(const fs::path& capture) {
  std::set<std::int64_t> ranks;
  CaptureFolders folders;
  if (!CannSession::recognises(capture, folders)) return ranks;
  try {
    const CannSession session(capture, std::move(folders));
    for (const CannPart& part : session.parts()) {
      if (part.info.rank_id >= 0) ranks.insert(part.info.rank_id);
    }
  } catch (const Error& error) {
    if (error.code() == Exit::interrupted) throw;
  }
  return ranks;
}

// Depth-first search in name order. Not recursive, because the depth of the tree is untrusted.
class Search {
 public:
  void begin_at(const fs::path& folder) {
    std::error_code error;
    const fs::path whole = fs::canonical(folder, error);
    if (error) {
      problem(folder, error.value());
    } else if (!fs::is_directory(whole, error)) {
      found_.problems.push_back({folder, "it is not a folder", true});
    } else if (is_cann_capture(whole)) {
      take(whole);
    } else {
      waiting_.push_back(whole);
    }
    while (!waiting_.empty()) {
      interrupt::check();
      const fs::path next = std::move(waiting_.back());
      waiting_.pop_back();
      enter(next);
    }
  }

  CaptureSearch finish() {
    auto& captures = found_.captures;
    std::sort(captures.begin(), captures.end(),
              [](const ClusterCapture& a, const ClusterCapture& b) {
                return a.folder.native() < b.folder.native();
              });
    return std::move(found_);
  }

 private:
  void problem(const fs::path& path, std::string reason) {
    found_.problems.push_back({path, std::move(reason)});
  }
  void problem(const fs::path& path, int error_number) {
    found_.problems.push_back(
        {path, errno_text(error_number), to_unreadable_exit(error_number) == Exit::nothing_to_do});
  }

  // Returns false if the folder was visited before, perhaps under another name.
  bool is_new(const fs::path& folder) {
    struct stat status = {};
    if (::stat(folder.c_str(), &status) != 0) {
      problem(folder, errno);
      return false;
    }
    return seen_.emplace(status.st_dev, status.st_ino).second;
  }

  // Adds a problem if it cannot be determined.
  bool is_cann_capture(const fs::path& folder) {
    CaptureFolders folders;
    const bool is_one = CannSession::recognises(folder, folders);
    for (const auto& [path, sentence] : folders.problems()) problem(path, sentence);
    return is_one;
  }

  void take(const fs::path& folder) {
    if (!is_new(folder)) return;
    std::optional<std::int64_t> rank;
    try {
      rank = find_named_rank(folder);
    } catch (const Error& error) {
      if (error.code() == Exit::interrupted) throw;
      problem(folder, error.what());
    }
    found_.captures.push_back({folder, rank});
  }

  // A rank recorded in the capture has priority over the framework's file.
  static std::optional<std::int64_t> find_named_rank(const fs::path& capture) {
    const auto rank = find_framework_rank(capture);
    return rank && own_ranks(capture).empty() ? rank : std::nullopt;
  }

  void enter(const fs::path& folder) {
    if (!is_new(folder)) return;
    const FolderListing listing = list_folder(folder);
    if (listing.error_number != 0) problem(folder, listing.error_number);
    std::vector<fs::path> below;
    for (const FolderEntry& entry : listing.entries)
      look_at(folder / entry.name, entry.type, below);
    // The last element is visited first, so sort in descending order.
    std::sort(below.begin(), below.end(), std::greater<>());
    waiting_.insert(waiting_.end(), below.begin(), below.end());
  }

  void look_at(const fs::path& path, fs::file_type type, std::vector<fs::path>& below) {
    if (type == fs::file_type::regular) return;
    std::error_code error;
    const fs::file_type target = fs::status(path, error).type();
    if (target == fs::file_type::none && error.value() != ELOOP)
      return problem(path, error.value());
    if (target != fs::file_type::directory) return;
    const bool is_capture = path.filename().string().starts_with("PROF_") &&
                            (is_cann_capture(path) || !holds_captures(path));
    if (!is_capture) {
      below.push_back(path);
      return;
    }
    const fs::path whole = fs::canonical(path, error);
    if (error) return problem(path, error.value());
    take(whole);
  }

  // Returns true if the folder contains captures, so that it is not a capture despite its name.
  static bool holds_captures(const fs::path& folder) {
    const FolderListing listing = list_folder(folder);
    return std::any_of(listing.entries.begin(), listing.entries.end(),
                       [](const FolderEntry& entry) { return entry.name.starts_with("PROF_"); });
  }

  CaptureSearch found_;
  std::vector<fs::path> waiting_;
  std::set<std::pair<dev_t, ino_t>> seen_;
};

}  // namespace

CaptureSearch search_captures(const std::vector<fs::path>& folders) {
  Search search;
  for (const fs::path& folder : folders) search.begin_at(folder);
  return search.finish();
}

std::optional<std::int64_t> find_known_rank(const ClusterCapture& capture) {
  if (capture.rank) return capture.rank;
  const std::set<std::int64_t> ranks = own_ranks(capture.folder);
  return ranks.size() == 1 ? std::optional(*ranks.begin()) : std::nullopt;
}

}  // namespace msprof::cluster
