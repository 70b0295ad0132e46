#include "session/session.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/text.hpp"
#include "session/cann_session.hpp"
#include "session/svp_session.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMostDoneBytes = 1 << 20;

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

bool has_classic_files(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (is_classic_name(entry.path().filename().string())) return true;
  }
  return false;
}

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

std::string why_not_a_capture(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return fmt::format("no such folder: {}", folder.string());
  if (!fs::is_directory(folder, error)) return fmt::format("{} is not a folder", folder.string());
  fs::directory_iterator(folder, error);
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

bool is_named_as_capture(const fs::path& folder) {
  const std::string name = folder.filename().string();
  std::error_code error;
  return (name.starts_with("JOB") || name.starts_with("PROF_")) && fs::is_directory(folder, error);
}

}  // namespace

std::string why_none_is_a_capture(const fs::path& folder) {
  std::vector<fs::path> named;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!is_named_as_capture(entry.path())) continue;
    if (recognise(entry.path())) return "";
    named.push_back(entry.path());
  }
  if (named.empty()) return "";
  std::sort(named.begin(), named.end());
  const std::string what =
      named.size() == 1
          ? "one folder named as a capture, which cannot be read"
          : fmt::format("{} folders named as captures, none of which can be read", named.size());
  return fmt::format("{} holds {}: {}", folder.string(), what, why_not_a_capture(named.front()));
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
  if (has_classic_files(folder) || has_classic_files(folder / "data")) return Dialect::classic;
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
  switch (*dialect) {
    case Dialect::svp:
      return std::make_unique<SvpSession>(folder);
    case Dialect::cann:
      return std::make_unique<CannSession>(folder);
    case Dialect::classic:
      break;
  }
  throw Error(
      Exit::nothing_to_do,
      fmt::format(
          "{} is a capture of the Ascend 310/910 tools of 2019-2021 (*.slice_N, hwts*, "
          "*_start.log.N): this version reads JOB folders of SVP boards and PROF folders of CANN",
          folder.string()));
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
      {name, static_cast<std::int64_t>(status.st_size),
       static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec});
  return true;
}

DoneFile Session::read_done(const fs::path& path, const std::string& name) {
  DoneFile done{path, name, std::nullopt, {}};
  try {
    const std::string text = read_text_file(path, kMostDoneBytes);
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

}  // namespace msprof
