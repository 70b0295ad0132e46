#include "session/capture_walk.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "session/cann_session.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Limits of a walk: deeper, and in more folders, nobody keeps captures.
constexpr int kMaxCaptureDepth = 12;
constexpr std::size_t kMaxSearchedFolders = 200'000;

class CaptureWalk {
 public:
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
    interrupt::check();
    if (const auto dialect = recognise(folder)) {
      found_.captures.push_back({folder.lexically_normal(), *dialect});
      return;
    }
    std::vector<fs::path> below;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string();
      std::error_code ignored;
      const fs::file_type type = at->symlink_status(ignored).type();
      if (type == fs::file_type::regular && name == "cluster.db")
        found_.cluster_files.push_back(at->path().lexically_normal());
      if (type == fs::file_type::directory && !name.starts_with('.')) below.push_back(at->path());
    }
    if (depth == kMaxCaptureDepth) return;
    std::sort(below.begin(), below.end());
    for (const fs::path& child : below) look(child, depth + 1);
  }

  CapturesBelow found_;
  std::size_t searched_ = 0;
};

}  // namespace

CapturesBelow walk_captures(const fs::path& folder) {
  return CaptureWalk().found(folder);
}

std::optional<std::int64_t> rank_of(const Session& session) {
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

std::optional<std::int64_t> framework_rank(const fs::path& capture) {
  constexpr std::string_view kInfoPrefix = "profiler_info_";
  constexpr std::string_view kInfoSuffix = ".json";
  std::error_code error;
  fs::path folder = fs::absolute(capture, error).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "PROF_…/"
  folder = folder.parent_path();
  const std::string own = folder.filename().string();
  if (error || (!own.ends_with("_ascend_pt") && !own.ends_with("_ascend_ms"))) return std::nullopt;
  std::optional<std::int64_t> rank;
  for (const std::string& name : sorted_names(folder)) {
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
