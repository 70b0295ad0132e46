#include "analyze/capture_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/error.hpp"
#include "base/folder_listing.hpp"
#include "base/foreign_error.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "base/time_text.hpp"
#include "base/words.hpp"
#include "import/import_report.hpp"
#include "import/importer.hpp"
#include "session/cann_session.hpp"
#include "session/capture_walk.hpp"
#include "session/svp_session.hpp"

namespace msprof {

namespace fs = std::filesystem;

constexpr int kMaxTreeDepth = 8;

std::uint64_t bytes_below(const fs::path& folder, std::string& problem, int depth) {
  std::uint64_t bytes = 0;
  FolderListing listing = list_folder(folder);
  for (const FolderEntry& entry : listing.entries) {
    struct stat status = {};
    const fs::path path = folder / entry.name;
    if (::lstat(path.c_str(), &status) != 0) {
      if (to_unreadable_exit(errno) != Exit::nothing_to_do) listing.error_number = errno;
      continue;
    }
    if (S_ISDIR(status.st_mode) && depth < kMaxTreeDepth)
      bytes += bytes_below(path, problem, depth + 1);
    if (S_ISREG(status.st_mode)) bytes += static_cast<std::uint64_t>(status.st_size);
  }
  if (listing.is_cut() && problem.empty()) problem = listing_problem(folder, listing.error_number);
  return bytes;
}

namespace {

constexpr std::size_t kMaxCommandWidth = 120;

void add_once(std::vector<std::string>& texts, std::string text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
}

// Reads models and batches from the file names of a board capture that was not imported.
void read_names(ListedCapture& capture) {
  const auto names = list_names(capture.folder / "data");
  svp::KnownModels known;  // resolves ambiguous names
  for (const std::string& name : names) {
    const auto info = svp::parse_info_name(name);
    if (info && info->kind == svp::SvpFileKind::net_info)
      known.insert({info->model, info->model_id});
  }
  for (const std::string& name : names) {
    if (name.ends_with(".done")) continue;
    const svp::SvpFileName parsed = svp::parse_data_name(name, known);
    if (!parsed.model.empty()) add_once(capture.models, parsed.model);
    const bool has_batch =
        parsed.kind == svp::SvpFileKind::aicore || parsed.kind == svp::SvpFileKind::aicpu;
    if (has_batch) add_once(capture.batches, std::to_string(parsed.batch_num));
  }
}

// Reads the rank of a capture that was not imported; empty if there is not exactly one.
std::optional<std::int64_t> read_own_rank(const fs::path& folder) {
  try {
    return find_rank(CannSession(folder));
  } catch (const Error& error) {
    if (error.code() == Exit::interrupted) throw;
    return std::nullopt;  // import will report the error
  }
}

std::string command_line(const RunRecord& run) {
  std::string line;
  for (const std::string& word : run.command) line += (line.empty() ? "" : " ") + shell_word(word);
  return shorten(printable(line), static_cast<int>(kMaxCommandWidth));
}

}  // namespace

ListedCapture describe_capture(const FoundCapture& found) {
  ListedCapture capture;
  capture.folder = found.folder;
  capture.dialect = found.dialect;
  capture.run = read_run_record(found.folder, &capture.run_problem);
  capture.time_ns = begin_time_ns(found.folder);
  try {
    capture.summary = read_run_summary(store_path(found.folder));
    if (capture.summary) {
      capture.models = capture.summary->models;
      capture.batches = capture.summary->batches;
      capture.rank = capture.summary->rank;
    } else if (capture.dialect == Dialect::svp) {
      read_names(capture);
    } else if (capture.dialect == Dialect::cann) {
      capture.rank = read_own_rank(found.folder);
    }
    if (!capture.rank) capture.rank = find_framework_rank(found.folder);
  } catch (const Error& error) {
    if (error.code() == Exit::interrupted) throw;
    capture.listing_problem = error.what();
  }
  return capture;
}

std::vector<ListedCapture> list_captures(const std::vector<FoundCapture>& found) {
  std::vector<ListedCapture> captures(found.size());
  constexpr std::size_t kFewCaptures = 8;
  in_parallel(found.size(), found.size() > kFewCaptures ? 2 : 1, [&](std::size_t i, std::size_t) {
    captures[i] = describe_capture(found[i]);
    captures[i].bytes = bytes_below(found[i].folder, captures[i].listing_problem);
  });
  std::sort(captures.begin(), captures.end(), [](const ListedCapture& a, const ListedCapture& b) {
    return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.folder < b.folder;
  });
  return captures;
}

std::string describe_verdict(const ListedCapture& capture) {
  if (!capture.summary || capture.summary->verdict.empty()) return "not imported";
  const std::string text = capture.summary->verdict == verdict_name(Severity::partial)
                               ? verdict_text(Severity::partial, {})
                               : capture.summary->verdict_text;
  return capture.summary->has_inferred_layout ? text + ", inferred layout" : text;
}

std::string short_line(const ListedCapture& capture) {
  // width of "2026-11-23 19:06"
  constexpr std::size_t kMinutes = 16;
  std::string line = local_time_text(capture.time_ns).substr(0, kMinutes);
  for (const std::string& part :
       {fmt::format("{}", fmt::join(capture.models, " + ")), describe_verdict(capture)}) {
    if (!part.empty()) line += (line.empty() ? "" : ", ") + part;
  }
  return printable(line);
}

std::string run_line(const RunRecord& run) {
  std::string line;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) line += (line.empty() ? "" : ", ") + part;
  };
  add(local_time_text(run.begin_ns > 0 ? run.begin_ns : -1));
  const std::string machine = run.machine_text();
  add(run.host.empty() || machine.empty() ? run.host + machine
                                          : fmt::format("{} ({})", run.host, machine));
  add(command_line(run));
  add(run.repeat.text());
  return printable(line);
}

std::string read_run_line(const fs::path& capture) {
  const auto run = read_run_record(capture);
  return run ? run_line(*run) : std::string();
}

}  // namespace msprof
