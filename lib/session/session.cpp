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
#include "base/folder_listing.hpp"
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
constexpr std::size_t kMaxNamedCaptures = 20;  // maximum number per message

bool is_digits(std::string_view text) {
  std::uint64_t value = 0;
  return parse_u64(text, value);
}

// File names that only captures of older or other tool chains have.
bool is_classic_name(std::string_view name) {
  const std::size_t slice = name.rfind(".slice_");
  if (slice != std::string_view::npos && is_digits(name.substr(slice + 7))) return true;
  return name.starts_with("hwts.") || name.find("_start.log.") != std::string_view::npos;
}

// Counts the file names of each tool chain, so that a single stray file does not decide the
// dialect.
struct NameCounts {
  std::size_t classic = 0, svp = 0;

  void add(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (name.ends_with(".done")) continue;
      if (is_classic_name(name)) {
        ++classic;
      } else if (svp::parse_data_name(name, {}).kind != svp::SvpFileKind::other) {
        ++svp;
      }
    }
  }
};

bool has_info_json(const FolderListing& listing) {
  return std::any_of(listing.entries.begin(), listing.entries.end(), [](const FolderEntry& entry) {
    return svp::parse_info_json_name(entry.name).has_value();
  });
}

std::string first_problem(const CaptureFolders& folders) {
  return folders.problems().begin()->second;
}

bool leaves_its_folder(const fs::path& path) {
  std::error_code error;
  const fs::path inside = fs::canonical(path.parent_path(), error);
  const fs::path target = fs::canonical(path, error);
  return error || target.parent_path() != inside;
}

std::vector<fs::path> sub_folders(const fs::path& folder) {
  const FolderListing listing = list_folder(folder);
  if (listing.is_cut())
    throw Error(Exit::partial_data, listing_problem(folder, listing.error_number));
  std::vector<fs::path> folders;
  std::error_code error;
  for (const FolderEntry& entry : listing.entries) {
    if (entry.type == fs::file_type::directory || fs::is_directory(folder / entry.name, error))
      folders.push_back(folder / entry.name);
  }
  return folders;
}

// Output of a framework's profiler: one folder per worker, each with a PROF folder.
bool is_framework_folder(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.ends_with("_ascend_pt") || name.ends_with("_ascend_ms");
}

// Returns the captures in a folder and in its framework folders. Includes capture folders that
// cannot be listed; opening them reports the error. If there are captures, adds a reason to
// `skipped` for each other folder that is named like a capture or cannot be listed. Throws if
// `folder` or a framework folder cannot be listed.
std::vector<fs::path> captures_in(const fs::path& folder, std::vector<std::string>& skipped) {
  std::vector<fs::path> captures;
  std::vector<std::string> others;
  for (const fs::path& child : sub_folders(folder)) {
    for (const fs::path& one :
         is_framework_folder(child) ? sub_folders(child) : std::vector{child}) {
      CaptureFolders folders;
      const bool is_capture = recognise(one, folders).has_value();
      const bool is_named = is_named_as_capture(one.filename().string());
      const bool is_cut = !folders.problems().empty();
      if (is_capture || (is_named && is_cut)) {
        captures.push_back(one);
      } else if (is_named || is_cut) {
        others.push_back(is_cut ? first_problem(folders) : why_not_a_capture(one));
      }
    }
  }
  if (!captures.empty()) skipped.insert(skipped.end(), others.begin(), others.end());
  return captures;
}

// True for a run that recorded no data and for a folder that cannot be listed.
bool is_failed_run(const fs::path& folder) {
  const FolderListing listing = list_folder(folder);
  return listing.is_cut() || has_info_json(listing);
}

std::int64_t modified_ns(const fs::path& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return 0;
  return static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
}

// Converts the digits of parse_time_in_name() to ns since 1970.
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
  const auto matches = list_matches(pattern, GLOB_TILDE);
  return {matches.begin(), matches.end()};
}

void append_once(std::vector<fs::path>& captures, const fs::path& capture) {
  std::error_code error;
  const bool known = std::any_of(captures.begin(), captures.end(), [&](const fs::path& other) {
    return fs::equivalent(other, capture, error);
  });
  if (!known) captures.push_back(capture);
}

}  // namespace

std::string why_not_a_capture(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return fmt::format("no such folder: {}", folder.string());
  if (!fs::is_directory(folder, error)) return fmt::format("{} is not a folder", folder.string());
  const FolderListing listing = list_folder(folder);
  if (listing.is_cut()) return listing_problem(folder, listing.error_number);
  if (has_info_json(listing)) {
    return fmt::format(
        "{} has no data folder: no model was executed, or it was converted without "
        "--online_model_type=2",
        folder.string());
  }
  return fmt::format(
      "{} is not a capture: it has neither data/ with info.json.N nor host/ or device_N/",
      folder.string());
}

std::optional<Error> why_none_is_a_capture(const fs::path& folder) {
  std::vector<std::string> named;  // one reason for each folder
  bool is_cut = false;
  std::error_code error;
  for (const std::string& name : list_names(folder)) {
    if (!is_named_as_capture(name) || !fs::is_directory(folder / name, error)) continue;
    CaptureFolders folders;
    if (recognise(folder / name, folders)) return std::nullopt;
    named.push_back(folders.problems().empty() ? why_not_a_capture(folder / name)
                                               : first_problem(folders));
    is_cut = is_cut || !folders.problems().empty();
  }
  if (named.empty()) return std::nullopt;
  const std::string what =
      named.size() == 1
          ? "one folder is named like a capture, but cannot be read"
          : fmt::format("{} folders are named like captures, but cannot be read", named.size());
  std::string reasons;
  for (std::size_t i = 0; i < std::min(named.size(), kMaxNamedCaptures); ++i)
    reasons += (i == 0 ? "" : "; ") + named[i];
  if (named.size() > kMaxNamedCaptures) reasons += "; …";
  const std::string sentence = fmt::format("{} holds {}: {}", folder.string(), what, reasons);
  return is_cut ? Error(Exit::partial_data, sentence)
                : Error(FindingId::unreadable_captures, sentence);
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

std::optional<Dialect> recognise(const fs::path& folder, CaptureFolders& folders) {
  if (!folders.is_folder(folder)) return std::nullopt;
  if (CannSession::recognises(folder, folders)) return Dialect::cann;
  NameCounts names;
  names.add(folders.names(folder));
  names.add(folders.names(folder / "data"));
  if (names.classic > 0 && names.classic >= names.svp) return Dialect::classic;
  if (folders.is_folder(folder / "data") && SvpSession::has_classic_info(folder, folders)) {
    return Dialect::classic;
  }
  if (SvpSession::recognises(folder, folders)) return Dialect::svp;
  return std::nullopt;
}

std::optional<Dialect> recognise(const fs::path& folder) {
  CaptureFolders folders;
  const auto dialect = recognise(folder, folders);
  if (!dialect && !folders.problems().empty())
    throw Error(Exit::partial_data, first_problem(folders));
  return dialect;
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
  CaptureFolders folders;
  const auto dialect = recognise(folder, folders);
  if (!dialect) {
    if (!folders.problems().empty()) throw Error(Exit::partial_data, first_problem(folders));
    if (const auto unreadable = why_none_is_a_capture(folder)) throw *unreadable;
    throw Error(Exit::nothing_to_do, why_not_a_capture(folder));
  }
  std::unique_ptr<Session> session;
  if (*dialect == Dialect::svp) session = std::make_unique<SvpSession>(folder, std::move(folders));
  if (*dialect == Dialect::cann)
    session = std::make_unique<CannSession>(folder, std::move(folders));
  if (*dialect == Dialect::classic)
    session = std::make_unique<ClassicSession>(folder, std::move(folders));
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
  // Captures are untrusted: a link must not expose other files of the user.
  if (::lstat(path.c_str(), &link) != 0 || (S_ISLNK(link.st_mode) && leaves_its_folder(path))) {
    findings_.push_back(
        {FindingId::outside_link, "capture", name, "link to outside the capture", ""});
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

void Session::finish() {
  for (const auto& [path, sentence] : folders_.problems()) {
    const std::string name = path.lexically_relative(folder_).string();
    findings_.push_back({FindingId::unreadable_file, "capture", name, "unreadable", sentence});
    // Makes the store outdated as soon as the folder can be read.
    file_states_.push_back({valid_utf8(name) + "/", 0, 0});
  }
  folders_ = {};
  std::sort(file_states_.begin(), file_states_.end(),
            [](const RawFileState& a, const RawFileState& b) { return a.name < b.name; });
}

std::int64_t capture_time_ns(const fs::path& capture) {
  if (const auto time = parse_time_in_name(capture.filename().string()))
    return local_time_ns(*time);
  std::int64_t newest = 0;
  for (const FolderEntry& entry : list_folder(capture).entries) {
    if (svp::parse_info_json_name(entry.name))
      newest = std::max(newest, modified_ns(capture / entry.name));
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

bool is_named_as_capture(std::string_view folder_name) {
  return (folder_name.starts_with("JOB") || folder_name.starts_with("PROF_")) &&
         folder_name.find('.') == std::string_view::npos;
}

std::optional<std::uint64_t> parse_time_in_name(const std::string& name) {
  const auto parts = split(name, '_');
  std::uint64_t time = 0;
  const bool is_time =
      parts.size() >= 3 && parts[0] == "PROF" && parts[2].size() == 17 && parse_u64(parts[2], time);
  if (!is_time) return std::nullopt;
  return time;
}

std::vector<fs::path> find_captures(const std::vector<std::string>& patterns) {
  std::vector<fs::path> captures;
  std::vector<std::string> skipped;
  std::error_code error;
  for (const std::string& pattern : patterns) {
    std::vector<fs::path> found;
    std::vector<std::string> others;
    const auto paths = expand(pattern);
    for (const fs::path& path : paths) {
      CaptureFolders folders;
      const bool is_meant = is_named_as_capture(own_name(path)) && fs::is_directory(path, error);
      const bool is_one = recognise(path, folders) || (is_meant && !folders.problems().empty());
      auto here = is_one ? std::vector{path} : captures_in(path, skipped);
      if (here.empty() && is_meant && is_failed_run(path)) here.push_back(path);
      if (here.empty() && is_meant) others.push_back(why_not_a_capture(path));
      found.insert(found.end(), here.begin(), here.end());
    }
    if (!found.empty()) skipped.insert(skipped.end(), others.begin(), others.end());
    // Keep the given path: opening it reports the error, and other captures are still processed.
    if (found.empty()) found = {paths.empty() ? fs::path(pattern) : paths.front()};
    for (const fs::path& capture : found) append_once(captures, capture);
  }
  for (const std::string& reason : skipped) log::warn("skipped: {}", reason);
  return captures;
}

}  // namespace msprof
