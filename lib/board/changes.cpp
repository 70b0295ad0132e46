#include "board/changes.hpp"

#include <algorithm>

#include "collect/arrival.hpp"

namespace msprof {

namespace {

std::string_view base_name(std::string_view path) {
  const auto at = path.rfind('/');
  return at == std::string_view::npos ? path : path.substr(at + 1);
}

bool is_folder(const BoardFile& file) {
  return file.kind == EntryKind::folder && !file.special;
}

// Applications may name other folders alike: outside of the output folder a capture must look like
// one, and must not have been there before.
bool is_capture(const std::string& path, const BoardListing& before, const BoardListing& after) {
  if (!is_capture_name(base_name(path))) return false;
  if (path == std::string(kOutputName) + '/' + std::string(base_name(path))) return true;
  if (!is_below(path, kTreeName) || before.files.contains(path)) return false;
  return after.files.contains(path + "/data") || after.files.contains(path + "/info.json.0");
}

}  // namespace

bool is_below(std::string_view path, std::string_view folder) {
  if (!path.starts_with(folder)) return false;
  return path.size() == folder.size() || path[folder.size()] == '/';
}

BoardChanges compare_run(const BoardListing& before, const BoardListing& after,
                         const std::set<std::string>& touched) {
  BoardChanges changes;
  const auto in_capture = [&](const std::string& path) {
    return std::any_of(changes.captures.begin(), changes.captures.end(),
                       [&](const std::string& capture) { return is_below(path, capture); });
  };
  // Sorted by path, so that a folder comes before what it holds.
  for (const auto& [path, file] : after.files) {
    if (is_folder(file) && !in_capture(path) && is_capture(path, before, after)) {
      changes.captures.push_back(path);
    }
  }
  for (const auto& [path, file] : after.files) {
    const bool ours = is_below(path, kTreeName) || is_below(path, kOutputName);
    if (!ours || is_folder(file) || in_capture(path)) continue;
    const auto old = before.files.find(path);
    const bool same = old != before.files.end() && old->second == file && !touched.contains(path);
    if (same) continue;
    if (file.special || file.kind != EntryKind::file) {
      if (old == before.files.end()) ++changes.special;
    } else {
      changes.files.push_back(path);
    }
  }
  for (const auto& [path, file] : before.files) {
    const bool was_file = file.kind == EntryKind::file && !file.special;
    if (was_file && is_below(path, kTreeName) && !after.files.contains(path)) {
      changes.deleted.push_back(path);
    }
  }
  return changes;
}

}  // namespace msprof
