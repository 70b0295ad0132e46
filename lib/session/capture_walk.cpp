#include "session/capture_walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/folder_listing.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "session/cann_session.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Limits of the search; real captures are never nested this deep or among this many folders.
constexpr int kMaxCaptureDepth = 12;
constexpr std::size_t kMaxSearchedFolders = 200'000;

class CaptureWalk {
 public:
  explicit CaptureWalk(const std::function<void()>& check) : check_(check) {}
  CapturesBelow found(const fs::path& folder) {
    look(folder, 0);
    return std::move(found_);
  }

 private:
  void look(const fs::path& folder, int depth) {
    if (++searched_ > kMaxSearchedFolders) {
      found_.is_whole = false;
      return;
    }
    check_();
    CaptureFolders folders;
    if (const auto dialect = recognise(folder, folders)) {
      found_.captures.push_back({folder.lexically_normal(), *dialect});
      return;
    }
    const FolderListing listing = list_folder(folder);
    if (listing.is_cut())
      folders.add_problem(folder, listing_problem(folder, listing.error_number));
    for (const auto& [path, sentence] : folders.problems())
      found_.skipped.push_back({path.lexically_normal(), sentence, true});
    std::vector<fs::path> below;
    for (const auto& [name, listed_type] : listing.entries) {
      std::error_code ignored;
      const fs::path path = folder / name;
      const fs::file_type type = listed_type == fs::file_type::unknown
                                     ? fs::symlink_status(path, ignored).type()
                                     : listed_type;
      if (type == fs::file_type::regular && name == "cluster.db")
        found_.cluster_files.push_back(path.lexically_normal());
      if (type == fs::file_type::directory && !name.starts_with('.')) below.push_back(path);
    }
    const std::size_t before = found_.captures.size();
    const bool is_skipped = folders.problems().empty() && is_named_as_capture(own_name(folder));
    if (depth < kMaxCaptureDepth) {
      for (const fs::path& child : below) look(child, depth + 1);
    }
    if (is_skipped && found_.captures.size() == before)
      found_.skipped.push_back({folder.lexically_normal(), why_not_a_capture(folder)});
  }

  const std::function<void()>& check_;
  CapturesBelow found_;
  std::size_t searched_ = 0;
};

}  // namespace

void check_search_folder(const fs::path& folder) {
  std::error_code error;
  const fs::file_type type = fs::status(folder, error).type();
  if (type == fs::file_type::none)
    throw Error(Exit::partial_data, listing_problem(folder, error.value()));
  if (type != fs::file_type::directory)
    throw Error(Exit::nothing_to_do, type == fs::file_type::not_found
                                         ? fmt::format("no such folder: {}", folder.string())
                                         : fmt::format("{} is not a folder", folder.string()));
}

CapturesBelow walk_captures(const fs::path& folder, const std::function<void()>& check) {
  return CaptureWalk(check).found(folder);
}

fs::path newest_capture(const fs::path& folder) {
  if (recognise(folder)) return folder;
  const CapturesBelow below = walk_captures(folder);
  std::optional<std::pair<std::int64_t, fs::path>> newest;
  for (const FoundCapture& capture : below.captures) {
    // Compares names if times are equal, so that the result does not depend on the directory order.
    newest = std::max(newest, {{begin_time_ns(capture.folder), capture.folder}});
  }
  if (!newest) {
    if (const auto unreadable = why_none_is_a_capture(folder)) throw *unreadable;
    for (const SkippedFolder& one : below.skipped)
      if (one.is_unlisted) throw Error(Exit::partial_data, one.reason);
    throw Error(
        Exit::nothing_to_do,
        "no capture (JOB… or PROF…) in this folder or its subfolders; give one with -dir DIR");
  }
  for (const SkippedFolder& one : below.skipped) {
    if (one.is_unlisted || capture_time_ns(one.folder) > newest->first)
      log::warn("skipped: {}", one.reason);
  }
  return newest->second;
}

std::optional<std::int64_t> find_rank(const Session& session) {
  const auto* const cann = dynamic_cast<const CannSession*>(&session);
  if (cann == nullptr) return std::nullopt;
  std::optional<std::int64_t> rank;
  for (const CannPart& part : cann->parts()) {
    if (part.info.rank_id < 0) continue;
    if (rank && *rank != part.info.rank_id) return std::nullopt;
    rank = part.info.rank_id;
  }
  return rank;
}

std::optional<std::int64_t> find_framework_rank(const fs::path& capture) {
  constexpr std::string_view kInfoPrefix = "profiler_info_";
  constexpr std::string_view kInfoSuffix = ".json";
  std::error_code error;
  fs::path folder = fs::absolute(capture, error).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // for a path like "PROF_…/"
  folder = folder.parent_path();
  const std::string own = folder.filename().string();
  if (error || (!own.ends_with("_ascend_pt") && !own.ends_with("_ascend_ms"))) return std::nullopt;
  std::optional<std::int64_t> rank;
  for (const std::string& name : list_names(folder)) {
    if (!name.starts_with(kInfoPrefix) || !name.ends_with(kInfoSuffix)) continue;
    if (name.size() <= kInfoPrefix.size() + kInfoSuffix.size()) continue;
    const auto named = parse_i64(std::string_view(name).substr(
        kInfoPrefix.size(), name.size() - kInfoPrefix.size() - kInfoSuffix.size()));
    if (named && rank) return std::nullopt;
    if (named) rank = named;
  }
  return rank;
}

}  // namespace msprof
