#include "session/find_captures.hpp"

#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"
#include "session/session.hpp"
#include "session/svp_names.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> sub_folders(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory(error)) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

// What a framework's profiler makes: a folder a worker, with a PROF folder in it.
bool is_framework_folder(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.ends_with("_ascend_pt") || name.ends_with("_ascend_ms");
}

std::vector<fs::path> captures_among(const std::vector<fs::path>& folders) {
  std::vector<fs::path> captures;
  std::copy_if(folders.begin(), folders.end(), std::back_inserter(captures),
               [](const fs::path& folder) { return recognise(folder).has_value(); });
  return captures;
}

// The captures in a folder, and those in the framework's folders in it.
std::vector<fs::path> captures_in(const fs::path& folder) {
  std::vector<fs::path> captures;
  for (const fs::path& child : sub_folders(folder)) {
    const auto found =
        captures_among(is_framework_folder(child) ? sub_folders(child) : std::vector{child});
    captures.insert(captures.end(), found.begin(), found.end());
  }
  return captures;
}

std::int64_t modified_ns(const fs::path& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return 0;
  return static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
}

// "20240515160507007" in PROF_000001_20240515160507007_XXXX, local time with milliseconds.
std::optional<std::int64_t> time_in_name_ns(const std::string& name) {
  const auto parts = split(name, '_');
  if (parts.size() < 3 || parts[0] != "PROF" || parts[2].size() != 17) return std::nullopt;
  std::uint64_t digits = 0;
  if (!parse_u64(parts[2], digits)) return std::nullopt;
  std::tm time = {};
  const auto take = [&](std::uint64_t scale, std::uint64_t modulo) {
    return static_cast<int>(digits / scale % modulo);
  };
  time.tm_year = take(10'000'000'000'000, 10000) - 1900;
  time.tm_mon = take(100'000'000'000, 100) - 1;
  time.tm_mday = take(1'000'000'000, 100);
  time.tm_hour = take(10'000'000, 100);
  time.tm_min = take(100'000, 100);
  time.tm_sec = take(1'000, 100);
  time.tm_isdst = -1;
  return std::int64_t{std::mktime(&time)} * 1'000'000'000 + take(1, 1000) * std::int64_t{1'000'000};
}

std::int64_t capture_time_ns(const fs::path& capture) {
  if (const auto time = time_in_name_ns(capture.filename().string())) return *time;
  std::int64_t newest = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(capture, error)) {
    if (svp::parse_info_json_name(entry.path().filename().string())) {
      newest = std::max(newest, modified_ns(entry.path()));
    }
  }
  return newest != 0 ? newest : modified_ns(capture);
}

std::optional<fs::path> newest_of(const std::vector<fs::path>& captures) {
  if (captures.empty()) return std::nullopt;
  // Of equal times the last by name, so that the choice does not depend on the directory's order.
  return *std::max_element(
      captures.begin(), captures.end(), [](const fs::path& a, const fs::path& b) {
        return std::pair(capture_time_ns(a), a) < std::pair(capture_time_ns(b), b);
      });
}

std::vector<fs::path> expand(const std::string& pattern) {
  std::error_code error;
  if (fs::exists(pattern, error)) return {pattern};
  glob_t matches = {};
  std::vector<fs::path> paths;
  if (::glob(pattern.c_str(), GLOB_TILDE, nullptr, &matches) == 0) {
    paths.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  }
  ::globfree(&matches);
  return paths;
}

void append_once(std::vector<fs::path>& captures, const fs::path& capture) {
  std::error_code error;
  const bool known = std::any_of(captures.begin(), captures.end(), [&](const fs::path& other) {
    return fs::equivalent(other, capture, error);
  });
  if (!known) captures.push_back(capture);
}

}  // namespace

std::vector<fs::path> find_captures(const std::vector<std::string>& patterns) {
  std::vector<fs::path> captures;
  for (const std::string& pattern : patterns) {
    std::vector<fs::path> found;
    const auto paths = expand(pattern);
    for (const fs::path& path : paths) {
      const auto here = recognise(path) ? std::vector{path} : captures_in(path);
      found.insert(found.end(), here.begin(), here.end());
    }
    // Kept as it was given: opening it says what is wrong with it, and the others go on.
    if (found.empty()) found = {paths.empty() ? fs::path(pattern) : paths.front()};
    for (const fs::path& capture : found) append_once(captures, capture);
  }
  return captures;
}

fs::path newest_capture(const fs::path& folder) {
  if (recognise(folder)) return folder;
  const auto children = sub_folders(folder);
  if (const auto newest = newest_of(captures_among(children))) return *newest;
  std::vector<fs::path> grandchildren;
  for (const fs::path& child : children) {
    const auto folders = sub_folders(child);
    grandchildren.insert(grandchildren.end(), folders.begin(), folders.end());
  }
  if (const auto newest = newest_of(captures_among(grandchildren))) return *newest;
  const std::string unreadable = why_none_is_a_capture(folder);
  if (!unreadable.empty()) throw Error(FindingId::unreadable_captures, unreadable);
  throw Error(
      Exit::nothing_to_do,
      "no capture (JOB… or PROF…) in this folder or two levels below; name one with -dir DIR");
}

}  // namespace msprof
