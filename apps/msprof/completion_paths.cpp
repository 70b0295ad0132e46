#include "msprof/completion_paths.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "session/session.hpp"

namespace msprof::completion {

namespace fs = std::filesystem;

namespace {

// Who presses TAB waits: what is not known by then is offered.
constexpr std::chrono::milliseconds kTimeToSearch{10};
constexpr std::size_t kMostEntries = 20'000;
// Levels below a folder in which a capture is looked for.
constexpr int kSearchDepth = 3;

struct Typed {
  fs::path folder;   // to list
  std::string name;  // what the entries begin with
};

Typed split_path(std::string_view typed) {
  std::string path(typed);
  if (path.starts_with("~/")) {
    if (const char* home = std::getenv("HOME")) path = home + path.substr(1);
  }
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, slash + 1), path.substr(slash + 1)};
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool is_folder(const fs::directory_entry& entry) {
  std::error_code error;
  return entry.is_directory(error);
}

// Calls `look(entry)` for each until it says false.
template <typename Look>
void for_each_entry(const fs::path& folder, Look&& look) {
  std::error_code error;
  std::size_t count = 0;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (++count > kMostEntries || !look(*at)) return;
  }
}

// Looks at folders until its time is over; from then on, by their names.
class CaptureSearch {
 public:
  bool is_capture(const fs::path& folder) const {
    if (!is_over()) return recognise(folder).has_value();
    return is_named_as_capture(folder.filename().string());
  }

  // Whether a capture is below `folder`; also true where that is not known.
  bool may_lead_to_one(const fs::path& folder, int depth = kSearchDepth) const {
    std::vector<fs::path> below;
    if (!is_over()) below = folders_in(folder);
    if (is_over()) return true;
    return std::any_of(below.begin(), below.end(),
                       [&](const fs::path& path) { return is_over() || is_capture(path); }) ||
           (depth > 1 && std::any_of(below.begin(), below.end(), [&](const fs::path& path) {
              return may_lead_to_one(path, depth - 1);
            }));
  }

 private:
  std::vector<fs::path> folders_in(const fs::path& folder) const {
    std::vector<fs::path> folders;
    for_each_entry(folder, [&](const fs::directory_entry& entry) {
      if (is_folder(entry)) folders.push_back(entry.path());
      return !is_over();
    });
    return folders;
  }
  bool is_over() const { return std::chrono::steady_clock::now() > end_; }

  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kTimeToSearch;
};

std::vector<PathRest> captures_of(const std::vector<PathRest>& folders, const Typed& typed) {
  std::vector<PathRest> found;
  const CaptureSearch search;
  for (const PathRest& folder : folders) {
    const std::string rest = folder.rest.substr(0, folder.rest.size() - 1);  // without '/'
    const fs::path path = typed.folder / (typed.name + rest);
    if (search.is_capture(path)) {
      found.push_back({rest, false});
    } else if (search.may_lead_to_one(path)) {
      found.push_back(folder);
    }
  }
  // No capture near: let the user walk on.
  return found.empty() ? folders : found;
}

}  // namespace

std::vector<PathRest> paths_like(std::string_view typed_text, PathKind kind) {
  const Typed typed = split_path(typed_text);
  std::vector<PathRest> found;
  if (typed_text == "~") return {{"/", true}};
  if (typed.name == "..") found.push_back({"/", true});
  for_each_entry(typed.folder, [&](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    const bool is_hidden = name.starts_with('.') && !typed.name.starts_with('.');
    if (!name.starts_with(typed.name) || is_hidden || has_control(name)) return true;
    const bool goes_on = is_folder(entry);
    if (goes_on || kind == PathKind::file)
      found.push_back({name.substr(typed.name.size()) + (goes_on ? "/" : ""), goes_on});
    return true;
  });
  if (kind == PathKind::capture) found = captures_of(found, typed);
  std::sort(found.begin(), found.end(),
            [](const PathRest& a, const PathRest& b) { return a.rest < b.rest; });
  return found;
}

}  // namespace msprof::completion
