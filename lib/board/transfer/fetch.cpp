#include "board/transfer/fetch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <tuple>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/transfer_line.hpp"
#include "base/words.hpp"
#include "board/transfer/listing.hpp"
#include "board/transfer/upload.hpp"
#include "collect/arrival.hpp"
#include "collect/file_tree.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxNamed = 5;

// Creates a stamp file, which reveals files that were rewritten without a change of size or of
// mtime in whole seconds. Arguments: $1 run folder, $2 name of the stamp, $3 "1" if the stamp is
// the only evidence: find compares whole seconds, so the run must not start in the same second.
const BoardScript kMakeStamp = {"marking the start of the run", R"sh(
: > "$1/$2" && { [ "$3" != 1 ] || sleep 1; }
)sh"};

const BoardScript kTouched = {"looking for files changed by the run", R"sh(
cd "$1" && find tree -type f -newer "$2"
)sh"};

constexpr const char* kStart = "stamp";
constexpr const char* kEndStamp = "stamp.end";

// Keeps only paths in `listing`, which bounds the size of the result.
std::set<std::string> paths_in(std::string_view lines, const TreeListing& listing) {
  std::set<std::string> paths;
  while (!lines.empty()) {
    const std::string path(take_line(lines));
    if (listing.files.contains(path)) paths.insert(path);
  }
  return paths;
}

// Lists the files of the run that are newer than a stamp.
BoardStep touched_step(const std::string& folder, const char* stamp) {
  return {.script = kTouched,
          .arguments = {folder, stamp},
          .may_fail = true,
          .most_bytes = kMaxListingBytes};
}

std::string parent_folder(const std::string& path) {
  const auto at = path.rfind('/');
  return at == std::string::npos ? "" : path.substr(0, at);
}

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

BoardFetch::BoardFetch(BoardLink& link, std::string project, std::string only_output)
    : link_(link),
      transfer_(link.shell(), link.info()),
      project_(std::move(project)),
      only_output_(std::move(only_output)) {}

void BoardFetch::remember(const std::string& original) {
  original_ = original;
  link_.with_reconnect([&] {
    if (!original_.empty()) original_before_ = transfer_.list(original_);
    before_ = transfer_.list(link_.run_folder(), listed_paths());
    const BoardStep stamp = stamp_step();
    link_.shell().change(stamp.script, stamp.arguments);
    newer_before_ = files_newer_than(kStart, before_);
  });
}

std::vector<std::string> BoardFetch::listed_paths() const {
  if (only_output_.empty()) return {"."};
  return {std::string(kTreeName), only_output_};
}

BoardStep BoardFetch::stamp_step() const {
  const bool alone = !link_.info().has_stat && !link_.info().has_sftp;
  return {.script = kMakeStamp, .arguments = {link_.run_folder(), kStart, alone ? "1" : "0"}};
}

std::vector<BoardStep> BoardFetch::remember_steps() const {
  const auto listing = transfer_.list_step(link_.run_folder(), listed_paths());
  if (!listing) return {};
  return {*listing, stamp_step(), touched_step(link_.run_folder(), kStart)};
}

bool BoardFetch::take_remembered(const std::vector<BoardAnswer>& answers) {
  if (answers.size() != 3 || !answers[0].has_succeeded() || !answers[1].has_succeeded() ||
      !answers[2].end.exit_code)
    return false;
  before_ = transfer_.listing_in(link_.run_folder(), answers[0]);
  newer_before_ = paths_in(answers[2].out, before_);
  return true;
}

std::vector<BoardStep> BoardFetch::end_steps() const {
  auto listing = transfer_.list_step(link_.run_folder(), listed_paths());
  if (!listing) return {};
  listing->may_fail = true;
  std::vector<BoardStep> steps = {*listing, touched_step(link_.run_folder(), kStart),
                                  free_step(link_.info().folder)};
  const auto pack = transfer_.pack_steps(link_.run_folder() + "/" + std::string(kOutputName));
  steps.insert(steps.end(), pack.begin(), pack.end());
  return steps;
}

BoardAnswer BoardFetch::take_end(std::unique_ptr<StepsUnderWay> answers) {
  end_.reset();
  packed_.reset();
  const BoardAnswer listed = answers->next();
  const BoardAnswer touched = answers->next();
  BoardAnswer free = answers->next();
  if (listed.has_succeeded() && touched.end.exit_code) {
    try {
      TreeListing now = transfer_.listing_in(link_.run_folder(), listed);
      std::set<std::string> newer = paths_in(touched.out, now);
      end_.emplace(std::move(now), std::move(newer));
    } catch (const Error& error) {
      log::verbose("{}", error.what());
    }
  }
  if (end_ && answers->left() > 0) {
    packed_ = std::move(answers);
    packed_connection_ = link_.recoveries();
  } else {
    answers->finish();
  }
  return free;
}

// Returns the stream of end_steps() if it contains exactly `paths`; else null.
std::unique_ptr<StepsUnderWay> BoardFetch::take_packed(const std::string& folder,
                                                       const std::vector<std::string>& paths) {
  if (!packed_ || folder != kOutputName) return nullptr;
  auto packed = std::move(packed_);
  if (packed_connection_ != link_.recoveries()) return nullptr;
  const std::string prefix = folder + "/";
  std::set<std::string> sent;
  for (const auto& [path, file] : after_.files) {
    if (!file.is_folder() || !path.starts_with(prefix)) continue;
    const std::string name = path.substr(prefix.size());
    const bool is_sent = name.starts_with("JOB") || name.starts_with("PROF_");
    if (is_sent && name.find('/') == std::string::npos) sent.insert(name);
  }
  if (sent != std::set<std::string>(paths.begin(), paths.end())) return nullptr;
  return packed;
}

std::string BoardFetch::state() const {
  std::string text = fmt::format("project {}\n", project_);
  for (const std::string& path : newer_before_) text += fmt::format("newer {}\n", path);
  const auto add = [&](const char* word, const TreeListing& listing) {
    for (const auto& [path, file] : listing.files) {
      const char kind = file.is_special                  ? 's'
                        : file.kind == EntryKind::link   ? 'l'
                        : file.kind == EntryKind::folder ? 'd'
                                                         : 'f';
      text += fmt::format("{} {} {} {} {} {} {} {}\n", word, kind, file.size_bytes,
                          file.mtime_seconds, file.ctime_seconds, file.inode, file.mode, path);
    }
  };
  add("entry", before_);
  if (!original_.empty()) text += fmt::format("original {}\n", original_);
  add("there", original_before_);
  return text;
}

void BoardFetch::take_state(std::string_view text) {
  before_ = {};
  original_before_ = {};
  newer_before_.clear();
  while (!text.empty() &&
         before_.files.size() + original_before_.files.size() + newer_before_.size() <=
             2 * kMaxListedEntries) {
    std::string_view line = take_line(text);
    std::vector<std::string_view> words;
    const auto take = [&](std::size_t count) {
      while (words.size() < count) {
        const auto at = line.find(' ');
        if (at == std::string_view::npos) return false;
        words.push_back(line.substr(0, at));
        line.remove_prefix(at + 1);
      }
      return is_acceptable_board_path(line);
    };
    if (line.starts_with("project ") && take(1)) project_ = line;
    if (line.starts_with("newer ") && take(1)) newer_before_.emplace(line);
    constexpr std::string_view kOriginal = "original /";
    if (line.starts_with(kOriginal) && printable(line) == line)
      original_ = line.substr(kOriginal.size() - 1);
    const bool is_there = line.starts_with("there ");
    if (!is_there && !line.starts_with("entry ")) continue;
    if (!take(7) || words[1].size() != 1) continue;
    ListedFile file;
    std::uint64_t mode = 0;
    const auto modified = parse_i64(words[3]);
    const auto changed = parse_i64(words[4]);
    if (!parse_u64(words[2], file.size_bytes) || !modified || !changed ||
        !parse_u64(words[5], file.inode) || !parse_u64(words[6], mode)) {
      continue;
    }
    file.mtime_seconds = *modified;
    file.ctime_seconds = *changed;
    file.mode = static_cast<std::uint32_t>(mode & 07777);
    file.is_special = words[1] == "s";
    if (words[1] == "l") file.kind = EntryKind::link;
    if (words[1] == "d") file.kind = EntryKind::folder;
    (is_there ? original_before_ : before_).files.emplace(line, file);
  }
}

// Ignores ctime: hard links change the link count and therefore the ctime, but not the content.
void BoardFetch::compare_original() {
  if (original_.empty()) return;
  TreeListing now;
  link_.with_reconnect([&] { now = transfer_.list(original_); });
  const auto differs = [](const ListedFile& a, const ListedFile& b) {
    return a.kind != b.kind ||
           (a.is_file() && (a.size_bytes != b.size_bytes || a.mtime_seconds != b.mtime_seconds));
  };
  const fs::path root = original_;
  for (const auto& [path, file] : original_before_.files) {
    const auto found = now.files.find(path);
    if (found == now.files.end() || differs(file, found->second))
      fetched_.changed_there.push_back(root / path);
  }
  for (const auto& [path, file] : now.files) {
    if (!original_before_.files.contains(path)) fetched_.changed_there.push_back(root / path);
  }
}

std::set<std::string> BoardFetch::files_newer_than(const char* stamp, const TreeListing& listing) {
  const BoardStep step = touched_step(link_.run_folder(), stamp);
  return paths_in(link_.shell().ask(step.script, step.arguments, {}, step.most_bytes).out, listing);
}

// Excludes files with a time in the future, which are newer than the start stamp even if untouched.
// A file that the run wrote to is not newer than the end stamp.
std::set<std::string> BoardFetch::touched_files(std::set<std::string> touched) {
  if (newer_before_.empty()) return touched;
  // If the disk has no room for the stamp, no file counts as newer than it: too much is fetched
  // rather than too little.
  link_.shell().ask(kMakeStamp, {link_.run_folder(), kEndStamp, "0"});
  const std::set<std::string> ahead = files_newer_than(kEndStamp, after_);
  std::erase_if(touched, [&](const std::string& path) {
    return newer_before_.contains(path) && ahead.contains(path);
  });
  return touched;
}

bool BoardFetch::had_folder(const std::string& path) const {
  const std::string run = link_.run_folder();
  if (path == run || !is_below(path, run)) return false;
  const auto found = before_.files.find(path.substr(run.size() + 1));
  return found != before_.files.end() && !found->second.is_special &&
         found->second.kind != EntryKind::file;
}

std::uint64_t BoardFetch::count_bytes(const RunChanges& changes) const {
  std::uint64_t bytes = 0;
  const std::set<std::string> files(changes.files.begin(), changes.files.end());
  const PathSet captures(changes.captures.begin(), changes.captures.end());
  for (const auto& [path, file] : after_.files) {
    const bool wanted = files.contains(path) || is_below_any(path, captures);
    if (wanted && !is_here(path) && file.kind == EntryKind::file)
      bytes = saturating_sum(bytes, file.size_bytes);
  }
  return bytes;
}

void BoardFetch::require_space(const fs::path& into) const {
  const auto free = read_free_bytes(into);
  if (!free || *free >= expected_bytes_) return;
  throw Error(Exit::cannot_write, fmt::format("the results of the run need {}, but only {} are "
                                              "free in {}; choose another folder with --output",
                                              human_bytes(expected_bytes_), human_bytes(*free),
                                              into.parent_path().string()));
}

RunChanges BoardFetch::changes_since() {
  RunChanges changes;
  link_.with_reconnect([&] {
    std::set<std::string> newer;
    if (end_) {
      std::tie(after_, newer) = std::move(*end_);
      end_.reset();  // after a lost connection the board is queried again
    } else {
      after_ = transfer_.list(link_.run_folder(), listed_paths());
      newer = files_newer_than(kStart, after_);
    }
    after_.files.erase(std::string(kOutputName) + "/" + std::string(kDrainNote));
    changes = compare_run(before_, after_, touched_files(std::move(newer)));
  });
  return changes;
}

Fetched BoardFetch::all(const fs::path& into, FetchedParts parts) {
  RunChanges changes = changes_since();
  if (parts == FetchedParts::captures) {
    changes.files.clear();
    changes.special = 0;
  }
  fs::create_directories(into / "captures");
  fs::create_directories(into / "files");
  expected_bytes_ = count_bytes(changes);
  require_space(into);
  fetch_captures(changes, into / "captures");
  packed_.reset();
  fetch_files(changes, into / "files");
  place_here(changes, into);
  name_fetched(changes, into);
  for (const std::string& path : changes.deleted)
    fetched_.deleted.push_back(fetched_name(path, project_));
  fetched_.not_fetched += changes.special;
  compare_original();
  note_refused();
  return std::move(fetched_);
}

void BoardFetch::fetch_captures(const RunChanges& changes, const fs::path& into) {
  std::map<std::string, std::vector<std::string>> names_by_folder;
  for (const std::string& path : changes.captures) {
    names_by_folder[parent_folder(path)].push_back(base_name(path));
  }
  for (const auto& [folder, inside] : names_by_folder)
    group(folder, without_here(folder, inside), into);
}

// Only files that exist locally count as fetched.
void BoardFetch::name_fetched(const RunChanges& changes, const fs::path& root) {
  const fs::path into = root / "captures";
  std::set<std::string> names;
  for (const std::string& path : changes.captures) names.insert(base_name(path));
  for (const std::string& name : names) {
    std::error_code error;
    if (!fs::is_directory(into / name, error)) continue;
    fetched_.captures.push_back({name, has_data_folder(into / name)});
  }
  for (const std::string& path : changes.files) {
    const fs::path fetched = fetched_name(path, project_);
    std::error_code error;
    if (fs::exists(root / "files" / fetched, error)) fetched_.files.push_back(fetched);
  }
}

bool BoardFetch::is_here(const std::string& path) const {
  return std::any_of(here_.begin(), here_.end(),
                     [&](const HereFile& one) { return !one.is_beside && one.path == path; });
}

// In `paths`, replaces folders with drained files by their other files.
std::vector<std::string> BoardFetch::without_here(const std::string& folder,
                                                  const std::vector<std::string>& paths) const {
  const std::string prefix = folder.empty() ? "" : folder + "/";
  std::vector<std::string> wanted;
  for (const std::string& path : paths) {
    const std::string whole = prefix + path;
    const bool holds_some = std::any_of(
        here_.begin(), here_.end(), [&](const HereFile& one) { return is_below(one.path, whole); });
    if (!holds_some) {
      wanted.push_back(path);
      continue;
    }
    for (const auto& [inside, file] : after_.files) {
      if (file.is_file() && is_below(inside, whole) && !is_here(inside))
        wanted.push_back(inside.substr(prefix.size()));
    }
  }
  return wanted;
}

// Links or copies the files: the originals may be the only copies, so they stay until the run is in
// its final place in the output folder.
void BoardFetch::place_here(const RunChanges& changes, const fs::path& into) {
  for (const HereFile& one : here_) {
    fs::path place = into / "files" / fetched_name(one.path, project_);
    bool place_in_files = true;
    for (const std::string& capture : changes.captures) {
      if (!is_below(one.path, capture)) continue;
      const std::string above = parent_folder(capture);
      place = into / "captures" / one.path.substr(above.empty() ? 0 : above.size() + 1);
      place_in_files = false;
    }
    std::error_code error;
    fs::create_directories(place.parent_path(), error);
    fs::create_hard_link(one.file, place, error);
    if (error) {
      // On another disk, where an earlier msprof drained it, or on a file system without hard
      // links.
      struct stat status = {};
      const bool is_there = ::stat(one.file.c_str(), &status) == 0;
      const int failure =
          is_there ? copy_file_whole(one.file, place, 0644, mtime_ns(status)) : errno;
      error = std::error_code(failure, std::generic_category());
    }
    if (error) throw_cannot_write(place, error.value());
    const std::uint64_t size = fs::file_size(place, error);
    fetched_.bytes += size;
    const auto there = after_.files.find(one.path);
    // The file belongs to a capture of which the board has nothing any more.
    if (there == after_.files.end() && place_in_files)
      fetched_.files.push_back(fetched_name(one.path, project_));
    if (there == after_.files.end() || one.is_beside) continue;
    if (there->second.mtime_seconds != 0) {
      const timespec time = {there->second.mtime_seconds, 0};
      const timespec times[2] = {time, time};
      ::utimensat(AT_FDCWD, place.c_str(), times, 0);
    }
    if (size != there->second.size_bytes) {
      fetched_.notes.push_back(fmt::format("{}: {} were downloaded, but it has {}",
                                           printable(one.path), human_bytes(size),
                                           human_bytes(there->second.size_bytes)));
    }
  }
}

void BoardFetch::fetch_files(const RunChanges& changes, const fs::path& into) {
  const std::string tree(kTreeName);
  const std::string project = tree + '/' + project_;
  // Groups the files: in the project (paths relative to it), above it (relative to `tree`), and in
  // the output folder.
  std::vector<std::string> in_project;
  std::vector<std::string> above;
  std::vector<std::string> elsewhere;
  for (const std::string& path : changes.files) {
    if (is_below(path, project)) {
      in_project.push_back(path.substr(project.size() + 1));
    } else if (is_below(path, tree)) {
      above.push_back(path.substr(tree.size() + 1));
    } else {
      elsewhere.push_back(path);
    }
  }
  group(project, in_project, into);
  group(tree, above, into / kParentFolder);
  group("", without_here("", elsewhere), into);
}

// Returns the listed size of `paths`, which have the form that missing() expects.
FetchAllowance BoardFetch::listed_allowance(const std::string& folder,
                                            const std::vector<std::string>& paths) const {
  FetchAllowance allowed = {.entries = after_.refused};
  const std::string prefix = folder.empty() ? "" : folder + "/";
  const std::set<std::string> wanted(paths.begin(), paths.end());
  for (const auto& [path, file] : after_.files) {
    if (!path.starts_with(prefix)) continue;
    const std::string inside = path.substr(prefix.size());
    if (wanted.contains(inside) || wanted.contains(inside.substr(0, inside.find('/'))))
      allowed.add(file);
  }
  return allowed;
}

// Returns the files among `paths` (files or folders below `folder`, which is relative to the run
// folder) that are missing or incomplete locally.
std::vector<std::string> BoardFetch::missing(const std::string& folder,
                                             const std::vector<std::string>& paths,
                                             const fs::path& into) const {
  std::vector<std::string> result;
  const std::string prefix = folder.empty() ? "" : folder + "/";
  const std::set<std::string> wanted(paths.begin(), paths.end());
  for (const auto& [path, file] : after_.files) {
    if (!path.starts_with(prefix) || !file.is_file()) continue;
    const std::string inside = path.substr(prefix.size());
    if (!wanted.contains(inside) && !wanted.contains(inside.substr(0, inside.find('/')))) continue;
    std::error_code error;
    const auto here = fs::file_size(into / inside, error);
    if (error || here != file.size_bytes) result.push_back(inside);
  }
  return result;
}

// Completes the files of `folder` that were fetched partially.
void BoardFetch::continue_parts(const std::string& folder, const std::vector<std::string>& paths,
                                const fs::path& into, const TransferProgress& progress) {
  TreeListing wanted;
  const std::string prefix = folder.empty() ? "" : folder + "/";
  for (const std::string& path : paths) {
    const auto found = after_.files.find(prefix + path);
    if (found != after_.files.end()) wanted.files.emplace(path, found->second);
  }
  const std::string from = folder.empty() ? link_.run_folder() : link_.run_folder() + "/" + folder;
  transfer_.continue_parts(from, wanted, paths, into, progress);
}

void BoardFetch::group(const std::string& folder, std::vector<std::string> paths,
                       const fs::path& into) {
  if (paths.empty()) return;
  fs::create_directories(into);
  const std::string from = folder.empty() ? link_.run_folder() : link_.run_folder() + "/" + folder;
  const std::vector<std::string> wanted = paths;
  TransferLine progress(fmt::format("fetching from {}", link_.name()), expected_bytes_,
                        total_bytes_);
  std::uint64_t here = 0;
  const FetchAllowance allowed = listed_allowance(folder, paths);
  std::unique_ptr<StepsUnderWay> packed = take_packed(folder, paths);
  link_.with_reconnect(
      [&] {
        std::uint64_t before = here;
        if (before > 0) {
          continue_parts(folder, missing(folder, wanted, into), into, [&](std::uint64_t bytes) {
            here = before + bytes;
            progress.update(total_bytes_ + here);
          });
          before = here;
          paths = missing(folder, wanted, into);
        }
        if (paths.empty()) return;
        const auto update = [&](std::uint64_t bytes) {
          here = before + bytes;
          progress.update(total_bytes_ + here);
        };
        const auto arriving = std::move(packed);  // used once: a lost connection invalidates it
        const FetchReport report =
            transfer_.fetch(from, paths, into, allowed, update, arriving.get());
        note(report);
      },
      [&] { return here; });
  total_bytes_ += here;
  fetched_.bytes = total_bytes_;
}

void BoardFetch::note(const FetchReport& report) {
  refused_ += report.refused;
  examples_.insert(examples_.end(), report.examples.begin(), report.examples.end());
  if (report.changed.empty()) return;
  std::string text = fmt::format(
      "could not fetch {} in the state that {} on the board now: {}",
      counted(report.changed.size(), "file"), report.changed.size() == 1 ? "it is" : "they are",
      report.reason.empty() ? "a process may still be writing to it" : report.reason);
  for (std::size_t i = 0; i < report.changed.size() && i < kMaxNamed; ++i) {
    text += "\n  " + printable(report.changed[i]);
  }
  fetched_.notes.push_back(std::move(text));
}

// Most files that the stream refuses were already refused in the listing, so this uses the larger
// of the two counts.
void BoardFetch::note_refused() {
  const std::uint64_t unlisted =
      after_.refused > before_.refused ? after_.refused - before_.refused : 0;
  const std::uint64_t refused = std::max(refused_, unlisted);
  if (refused > 0) {
    std::string text = fmt::format(
        "{} on the board {} refused: only files and folders with printable names inside their "
        "folder are fetched",
        counted(refused, "entry", "entries"), refused == 1 ? "was" : "were");
    for (std::size_t i = 0; i < examples_.size() && i < kMaxNamed; ++i) {
      text += "\n  " + examples_[i];
    }
    fetched_.notes.push_back(std::move(text));
  }
  if (!after_.trouble.empty()) {
    fetched_.notes.push_back(
        fmt::format("the board could not list all files of the run: {}", after_.trouble));
  }
}

}  // namespace msprof
