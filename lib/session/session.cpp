#include "session/session.hpp"

#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <optional>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "session/cann_session.hpp"
#include "session/classic_session.hpp"
#include "session/run_record.hpp"
#include "session/svp_session.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMaxDoneBytes = 1 << 20;
constexpr std::size_t kMaxNamedCaptures = 20;  // in one sentence

bool is_digits(std::string_view text) {
  std::uint64_t value = 0;
  return parse_u64(text, value);
}

// Names that only the folders of older or other tool chains have.
bool is_classic_name(std::string_view name) {
  const std::size_t slice = name.rfind(".slice_");
  if (slice != std::string_view::npos && is_digits(name.substr(slice + 7))) return true;
  return name.starts_with("hwts.") || name.find("_start.log.") != std::string_view::npos;
}

// How many names of a folder are those of either tool chain: a file that strayed into a folder of
// the other decides nothing.
struct NameCounts {
  std::size_t classic = 0, svp = 0;

  void add(const fs::path& folder) {
    for (const std::string& name : sorted_names(folder)) {
      if (name.ends_with(".done")) continue;
      if (is_classic_name(name)) {
        ++classic;
      } else if (svp::parse_data_name(name, {}).kind != svp::FileKind::other) {
        ++svp;
      }
    }
  }
};

bool has_info_json(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (svp::parse_info_json_name(entry.path().filename().string())) return true;
  }
  return false;
}

bool leaves_its_folder(const fs::path& path) {
  std::error_code error;
  const fs::path inside = fs::canonical(path.parent_path(), error);
  const fs::path target = fs::canonical(path, error);
  return error || target.parent_path() != inside;
}

}  // namespace

std::string why_not_a_capture(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return fmt::format("no such folder: {}", folder.string());
  if (!fs::is_directory(folder, error)) return fmt::format("{} is not a folder", folder.string());
  const fs::directory_iterator opened(folder, error);
  if (error) return fmt::format("{} cannot be read: {}", folder.string(), error.message());
  if (has_info_json(folder)) {
    return fmt::format(
        "{} has no data folder: no model was executed, or it was converted without "
        "--online_model_type=2",
        folder.string());
  }
  return fmt::format(
      "{} is not a capture: it has neither data/ with info.json.N nor host/ or device_N/",
      folder.string());
}

std::string why_none_is_a_capture(const fs::path& folder) {
  std::vector<fs::path> named;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!is_named_as_capture(entry.path().filename().string())) continue;
    if (!fs::is_directory(entry.path(), error)) continue;
    if (recognise(entry.path())) return "";
    named.push_back(entry.path());
  }
  if (named.empty()) return "";
  std::sort(named.begin(), named.end());
  const std::string what =
      named.size() == 1
          ? "one folder named like a capture, which cannot be read"
          : fmt::format("{} folders named like captures, none of which can be read", named.size());
  std::string reasons;
  for (std::size_t i = 0; i < std::min(named.size(), kMaxNamedCaptures); ++i)
    reasons += (i == 0 ? "" : "; ") + why_not_a_capture(named[i]);
  if (named.size() > kMaxNamedCaptures) reasons += "; …";
  return fmt::format("{} holds {}: {}", folder.string(), what, reasons);
}

std::string_view dialect_name(Dialect dialect) {
  switch (dialect) {
    case Dialect::svp:
      return "svp";
    case Dialect::cann:
      return "cann";
    case Dialect::classic:
      return "classic";
  }
  return "";
}

std::optional<Dialect> recognise(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return std::nullopt;
  if (CannSession::recognises(folder)) return Dialect::cann;
  NameCounts names;
  names.add(folder);
  names.add(folder / "data");
  if (names.classic > 0 && names.classic >= names.svp) return Dialect::classic;
  if (fs::is_directory(folder / "data", error) && SvpSession::has_classic_info(folder)) {
    return Dialect::classic;
  }
  if (SvpSession::recognises(folder)) return Dialect::svp;
  return std::nullopt;
}

std::optional<std::int64_t> DoneFile::integer(std::string_view key) const {
  for (const auto& [word, text] : values) {
    std::int64_t value = 0;
    if (word != key) continue;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= 0) return value;
  }
  return std::nullopt;
}

std::unique_ptr<Session> Session::open(const fs::path& folder) {
  const auto dialect = recognise(folder);
  if (!dialect) {
    const std::string unreadable = why_none_is_a_capture(folder);
    if (!unreadable.empty()) throw Error(FindingId::unreadable_captures, unreadable);
    throw Error(Exit::nothing_to_do, why_not_a_capture(folder));
  }
  std::unique_ptr<Session> session;
  if (*dialect == Dialect::svp) session = std::make_unique<SvpSession>(folder);
  if (*dialect == Dialect::cann) session = std::make_unique<CannSession>(folder);
  if (*dialect == Dialect::classic) session = std::make_unique<ClassicSession>(folder);
  if (session) {
    std::string problem;
    read_run_record(folder, &problem);
    if (!problem.empty())
      session->findings_.push_back({FindingId::other_entry, "capture", std::string(kRunRecordName),
                                    "run.json " + problem + ", not read", ""});
    return session;
  }
  throw Error(Exit::nothing_to_do, why_not_a_capture(folder));
}

std::string Session::name() const {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(folder_, error);
  return (error ? folder_ : whole).filename().string();
}

bool Session::track(const fs::path& path, const std::string& name) {
  struct stat status = {};
  struct stat link = {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    findings_.push_back({FindingId::not_a_file, "capture", name, "not a regular file", ""});
    return false;
  }
  // A capture comes from elsewhere: its links must not lead to the reader's own files.
  if (::lstat(path.c_str(), &link) != 0 || (S_ISLNK(link.st_mode) && leaves_its_folder(path))) {
    findings_.push_back(
        {FindingId::outside_link, "capture", name, "link that leaves the capture", ""});
    return false;
  }
  file_states_.push_back(
      {valid_utf8(name), static_cast<std::int64_t>(status.st_size),
       static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec});
  return true;
}

DoneFile Session::read_done(const fs::path& path, const std::string& name) {
  DoneFile done{path, name, std::nullopt, {}};
  try {
    const std::string text = read_text_file(path, kMaxDoneBytes);
    for (const auto line : split(text, '\n')) {
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos) continue;
      done.values.emplace_back(trim(line.substr(0, colon)), trim(line.substr(colon + 1)));
    }
  } catch (const Error& error) {
    findings_.push_back({FindingId::unreadable_file, "capture", name, "unreadable", error.what()});
    return done;
  }
  if (const auto length = done.integer("file_len"))
    done.file_len_bytes = static_cast<std::uint64_t>(*length);
  return done;
}

void Session::sort_states() {
  std::sort(file_states_.begin(), file_states_.end(),
            [](const RawFileState& a, const RawFileState& b) { return a.name < b.name; });
}

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

// Output of a framework's profiler: a folder a worker, with a PROF folder in it.
bool is_framework_folder(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.ends_with("_ascend_pt") || name.ends_with("_ascend_ms");
}

// The captures in a folder, and those in the framework's folders in it. Beside captures, what is
// named like one and is none goes to `skipped`.
std::vector<fs::path> captures_in(const fs::path& folder, std::vector<fs::path>& skipped) {
  std::vector<fs::path> captures;
  std::vector<fs::path> others;
  for (const fs::path& child : sub_folders(folder)) {
    for (const fs::path& one :
         is_framework_folder(child) ? sub_folders(child) : std::vector{child}) {
      if (recognise(one)) {
        captures.push_back(one);
      } else if (is_named_as_capture(one.filename().string())) {
        others.push_back(one);
      }
    }
  }
  if (!captures.empty()) skipped.insert(skipped.end(), others.begin(), others.end());
  return captures;
}

// A run that recorded nothing, or a folder that cannot be read; not just any folder of such a name.
bool is_failed_run(const fs::path& folder) {
  std::error_code error;
  const fs::directory_iterator opened(folder, error);
  return error || has_info_json(folder);
}

std::int64_t modified_ns(const fs::path& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return 0;
  return static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
}

// The digits of time_in_name() as a moment.
std::int64_t local_time_ns(std::uint64_t digits) {
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

std::int64_t capture_time_ns(const fs::path& capture) {
  if (const auto time = time_in_name(capture.filename().string())) return local_time_ns(*time);
  std::int64_t newest = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(capture, error)) {
    if (svp::parse_info_json_name(entry.path().filename().string())) {
      newest = std::max(newest, modified_ns(entry.path()));
    }
  }
  return newest != 0 ? newest : modified_ns(capture);
}

std::int64_t begin_time_ns(const fs::path& capture) {
  const auto run = read_run_record(capture);
  return run && run->begin_ns > 0 ? run->begin_ns : capture_time_ns(capture);
}

std::string own_name(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::absolute(folder, error).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

std::vector<std::string> sorted_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  while (!error && at != fs::directory_iterator()) {
    names.push_back(at->path().filename().string());
    at.increment(error);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool is_named_as_capture(std::string_view folder_name) {
  return (folder_name.starts_with("JOB") || folder_name.starts_with("PROF_")) &&
         folder_name.find('.') == std::string_view::npos;
}

std::optional<std::uint64_t> time_in_name(const std::string& name) {
  const auto parts = split(name, '_');
  std::uint64_t time = 0;
  const bool is_time =
      parts.size() >= 3 && parts[0] == "PROF" && parts[2].size() == 17 && parse_u64(parts[2], time);
  if (!is_time) return std::nullopt;
  return time;
}

std::vector<fs::path> find_captures(const std::vector<std::string>& patterns) {
  std::vector<fs::path> captures;
  std::vector<fs::path> skipped;
  std::error_code error;
  for (const std::string& pattern : patterns) {
    std::vector<fs::path> found;
    std::vector<fs::path> others;
    const auto paths = expand(pattern);
    for (const fs::path& path : paths) {
      auto here = recognise(path) ? std::vector{path} : captures_in(path, skipped);
      const bool is_meant = is_named_as_capture(own_name(path)) && fs::is_directory(path, error);
      if (here.empty() && is_meant) (is_failed_run(path) ? here : others).push_back(path);
      found.insert(found.end(), here.begin(), here.end());
    }
    if (!found.empty()) skipped.insert(skipped.end(), others.begin(), others.end());
    // Kept as it was given: opening it reports what is wrong with it, and the others go on.
    if (found.empty()) found = {paths.empty() ? fs::path(pattern) : paths.front()};
    for (const fs::path& capture : found) append_once(captures, capture);
  }
  for (const fs::path& folder : skipped) log::warn("skipped: {}", why_not_a_capture(folder));
  return captures;
}

}  // namespace msprof
