#include "board/cache.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::size_t kMostNameBytes = 60;

// $1 folder; stdin: one path a line. Permissions first: a folder without them cannot be emptied.
constexpr BoardScript kRemove = {"removing files of an earlier upload", R"sh(
cd "$1" || exit 1
while IFS= read -r path; do
  [ ! -d "./$path" ] || [ -L "./$path" ] || chmod -R u+rwX "./$path" 2>/dev/null
  rm -rf "./$path" || exit 1
done
)sh"};

bool is_same(const ProjectEntry& entry, const ListedFile& file) {
  if (file.special || file.kind != entry.kind) return false;
  if (entry.kind == EntryKind::link) return false;
  if (((file.mode ^ entry.mode) & S_IRWXU) != 0) return false;
  if (entry.kind == EntryKind::folder) return true;
  return file.size_bytes == entry.size_bytes &&
         file.mtime_seconds == entry.mtime_ns / kNanosecondsPerSecond;
}

bool lies_below_any(const std::string& path, const std::set<std::string>& folders) {
  for (auto at = path.rfind('/'); at != std::string::npos && at > 0; at = path.rfind('/', at - 1)) {
    if (folders.contains(path.substr(0, at))) return true;
  }
  return false;
}

}  // namespace

CacheUpdate plan_update(const Project& project, const TreeListing& there) {
  CacheUpdate update;
  std::set<std::string> wanted;
  std::set<std::string> removed;
  for (const ProjectEntry& entry : project.entries) {
    const std::string path = entry.path.string();
    wanted.insert(path);
    const auto found = there.files.find(path);
    if (found != there.files.end()) {
      if (is_same(entry, found->second)) continue;
      if (found->second.is_folder() != (entry.kind == EntryKind::folder)) removed.insert(path);
    }
    update.send.push_back(entry);
    if (entry.kind != EntryKind::file) continue;
    ++update.files;
    update.bytes += entry.size_bytes;
  }
  for (const auto& [path, file] : there.files) {
    if (!wanted.contains(path)) removed.insert(path);
  }
  for (const std::string& path : removed) {
    if (!lies_below_any(path, removed)) update.remove.push_back(path);
  }
  return update;
}

std::string cache_name(const Project& project) {
  std::array<char, 256> host = {};
  ::gethostname(host.data(), host.size() - 1);
  const std::string whole = std::string(host.data()) + '\n' + project.target.root.string();
  std::string name;
  for (const char c : project.target.root.filename().string()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
    if (name.size() < kMostNameBytes) name += plain ? c : '_';
  }
  return fmt::format("{}-{:016x}", name.empty() ? "project" : name, fnv1a(whole));
}

void change_board(BoardShell& shell, const BoardScript& script,
                  const std::vector<std::string>& arguments) {
  const BoardAnswer answer = shell.ask(script, arguments);
  if (answer.ok()) return;
  throw Error(Exit::cannot_write,
              fmt::format("{}: {}: {}", shell.login().name(), script.name, answer.reason()));
}

void remove_on_board(BoardShell& shell, const std::string& folder,
                     const std::vector<std::string>& paths) {
  if (paths.empty()) return;
  std::string list;
  for (const std::string& path : paths) list += path + '\n';
  const BoardAnswer answer = shell.ask(kRemove, {folder}, list);
  if (answer.ok()) return;
  throw Error(Exit::cannot_write,
              fmt::format("{}: {}: {}", shell.login().name(), kRemove.name, answer.reason()));
}

}  // namespace msprof
