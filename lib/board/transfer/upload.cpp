#include "board/transfer/upload.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/host_name.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/transfer_line.hpp"
#include "base/words.hpp"
#include "board/transfer/listing.hpp"
#include "board/transfer/outgoing.hpp"
#include "board/transfer/upload_parts.hpp"
#include "collect/collector.hpp"
#include "collect/file_tree.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::size_t kMaxCopyNameBytes = 60;

// Arguments: $1 folder; one path per line on stdin. Changes permissions first, since a folder
// without write permission cannot be emptied.
const BoardScript kRemoveFiles = {"removing files of an earlier upload", R"sh(
cd "$1" || exit 1
while IFS= read -r path; do
  [ ! -d "./$path" ] || [ -L "./$path" ] || chmod -R u+rwX "./$path" 2>/dev/null
  rm -rf "./$path" || exit 1
done
)sh"};

bool is_same(const ProjectEntry& entry, const ListedFile& file) {
  if (file.is_special || file.kind != entry.kind) return false;
  if (entry.kind == EntryKind::link) return false;
  if (((file.mode ^ entry.mode) & S_IRWXU) != 0) return false;
  if (entry.kind == EntryKind::folder) return true;
  return file.size_bytes == entry.size_bytes &&
         file.mtime_seconds == entry.mtime_ns / kNanosecondsPerSecond;
}

// Space to leave free for the recording, and for the overhead of blocks and folders.
constexpr std::uint64_t kMarginBytes = 8'000'000;
constexpr std::uint64_t kBlockBytes = 4096;
// For larger uploads the facts about the board are reported before the upload, not after it.
constexpr std::uint64_t kLongUpload = 16 << 20;
// Limit for files that are sent as part of a command; larger ones are sent as a stream.
constexpr std::size_t kMaxPlacedBytes = 2'500;

const BoardScript kMakeFolder = {"making the folder of the board's copy", R"sh(
umask 077
mkdir -p "$1"
)sh"};

// Arguments: $1 from, $2 to. Fails if the copy is incomplete.
const BoardScript kCopy = {"copying the project on the board", R"sh(
umask 077
mkdir -p "$2" && chmod u+rwx "$2" && cp -a "$1/." "$2/" && chmod u+rwx "$2"
)sh"};

// Arguments: $1 from, $2 to. Prints "hard", "soft", or "none", in which case nothing was created.
// Copies files up to 1 MB, so that an application that writes to them does not change the user's
// files. With symbolic links to another file system, also copies the program: it may look for files
// next to itself.
const BoardScript kLinkTree = {"linking the project on the board", R"sh(
umask 077
make() { mkdir -p "$2" && cp "$3" "$1/." "$2/" 2>/dev/null && chmod u+rwx "$2"; }
hard() {
  find "$1" -type f ! -size +2048 -exec sh -c \
    'for f; do cp -p "$f" "$f.msprof~" && mv -f "$f.msprof~" "$f" || exit 1; done' sh {} +
}
soft() {
  find "$1" -type l | while IFS= read -r f; do
    [ -f "$f" ] || continue
    size=$(wc -c < "$f")
    [ "$size" -le 1048576 ] || [ -x "$f" ] || continue
    cp -p "$f" "$f.msprof~" && rm -f "$f" && mv -f "$f.msprof~" "$f" || exit 1
  done
}
if make "$1" "$2" -al && hard "$2"; then echo hard; exit 0; fi
rm -rf "$2"
if make "$1" "$2" -as && soft "$2"; then echo soft; exit 0; fi
rm -rf "$2"
echo none
)sh"};

// Arguments: $1 folder around the project, $2 file in it, $3 its text.
const BoardScript kPlace = {"writing the files of the run", R"sh(
umask 022
cd "$1" && mkdir -p "${2%/*}" && printf %s "$3" > "$2" && chmod 644 "$2"
)sh"};

const BoardScript kMoveProject = {"moving the project on the board", R"sh(
umask 077
mv "$1" "$2"
)sh"};

constexpr std::string_view kOtherTemporary = " (set TMPDIR to use another folder)";

const BoardScript kSize = {"asking for the size of a folder on the board", R"sh(
du -sk "$1"
)sh"};

ProjectEntry folder_entry(const fs::path& path) {
  ProjectEntry entry;
  entry.path = path;
  entry.kind = EntryKind::folder;
  entry.mode = 0755;
  entry.mtime_ns = wall_clock_ns();
  return entry;
}

}  // namespace

CacheUpdate plan_update(const Project& project, const TreeListing& there) {
  CacheUpdate update;
  std::set<std::string> wanted;
  PathSet removed;
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
    const auto at = path.rfind('/');
    if (at != std::string::npos && is_below_any(std::string_view(path).substr(0, at), removed))
      continue;
    update.remove.push_back(path);
  }
  return update;
}

std::string cache_name(const Project& project) {
  const std::string whole = own_host_name() + '\n' + project.target.root.string();
  std::string name;
  for (const char c : project.target.root.filename().string()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
    if (name.size() < kMaxCopyNameBytes) name += plain ? c : '_';
  }
  return fmt::format("{}-{:016x}", name.empty() ? "project" : name, fnv1a(whole));
}

BoardUpload::BoardUpload(BoardLink& link, std::string target)
    : link_(link), transfer_(link.shell(), link.info()), target_(std::move(target)) {}

void BoardUpload::require_space(std::uint64_t bytes, std::uint64_t free) const {
  if (free >= bytes && free - bytes >= kMarginBytes) return;
  throw Error(
      Exit::cannot_write,
      fmt::format("{}: the project needs {} plus {} for the recording, but only {} are free in {}; "
                  "free space there (--clean-board removes msprof's files), choose another folder "
                  "with --board-dir, or exclude files with .msprofignore",
                  link_.name(), human_bytes(bytes), human_bytes(kMarginBytes), human_bytes(free),
                  link_.info().folder));
}

// `paths` are relative to `folder` on the board.
void BoardUpload::remove(const std::string& folder, const std::vector<std::string>& paths) {
  std::string list;
  for (const std::string& path : paths) list += path + '\n';
  if (list.empty()) return;
  const BoardStep step = {.script = kRemoveFiles, .arguments = {folder}, .lines = list};
  link_.shell().require_ok(kRemoveFiles, link_.shell().ask_each({step}).front());
}

// Answers to the queries before an upload.
struct BoardUpload::Start {
  TreeListing there;
  std::uint64_t free_bytes = 0;
  bool has_folder = true;  // the folder exists
};

BoardUpload::Start BoardUpload::begin(const std::string& folder, std::vector<BoardStep> steps) {
  BoardShell& shell = link_.shell();
  steps.push_back({.script = kMakeFolder, .arguments = {folder}});
  const std::size_t changes = steps.size();
  const auto listing = transfer_.list_step(folder);
  if (listing) steps.push_back(*listing);
  steps.push_back(free_step(link_.info().folder));
  const std::vector<BoardAnswer> answers = shell.ask_each(steps);
  for (std::size_t i = 0; i < changes; ++i) shell.require_ok(steps[i].script, answers[i]);
  Start start;
  start.there = listing ? transfer_.listing_in(folder, answers[changes]) : transfer_.list(folder);
  start.free_bytes = free_bytes_in(shell, link_.info().folder, answers.back());
  return start;
}

std::vector<BoardStep> BoardUpload::first_steps(const Project& project) {
  return {first_listing_step("cache/" + cache_name(project)), free_step(".")};
}

// Uses the answers to the steps that were sent with the lock request; returns nullopt if the steps
// have to be sent (again).
std::optional<BoardUpload::Start> BoardUpload::find_begun(
    const std::string& folder, const std::vector<BoardAnswer>& answers) const {
  if (answers.size() != 2 || !transfer_.list_step(folder)) return std::nullopt;
  try {
    Start start;
    start.there = transfer_.listing_in(folder, answers[0]);
    start.free_bytes = free_bytes_in(link_.shell(), link_.info().folder, answers[1]);
    start.has_folder = false;
    return start;
  } catch (const Error& error) {
    log::verbose("{}", error.what());
    return std::nullopt;
  }
}

// Repeats the transfer after a lost connection; files that have arrived are not sent again.
TransferTotals BoardUpload::send(const Project& project, const std::string& folder,
                                 UploadContext* company) {
  TransferTotals placed;
  std::uint64_t sent = 0;
  bool first = true;
  bool again = false;
  const auto bring_up_to_date = [&] {
    const bool is_again = std::exchange(again, true);
    std::optional<Start> start;
    if (company != nullptr && !is_again) start = find_begun(folder, company->begun);
    if (!start)
      start = begin(folder, company != nullptr ? company->before : std::vector<BoardStep>());
    const TreeListing& there = start->there;
    CacheUpdate update = plan_update(project, there);
    if (first) {
      require_space(update.bytes, start->free_bytes);
      placed = {update.files, update.bytes};
      first = false;
    }
    SendPlan plan;
    plan.is_empty = there.files.empty() && there.refused == 0 && there.trouble.empty();
    if (!start->has_folder && there.files.empty()) {
      plan.before = {{.script = kMakeFolder, .arguments = {folder}}};
      // Without a checksum tool, a note next to the folder must record what is being sent.
      if (link_.info().checksum.empty()) {
        link_.shell().change(kMakeFolder, {folder});
        plan.before.clear();
      }
    }
    if (company != nullptr) {
      company->answers.clear();
      const std::uint64_t needed =
          update.bytes + project.bytes + update.send.size() * kBlockBytes + kMarginBytes;
      if (start->free_bytes >= needed) {
        plan.after = {{.script = kCopy, .arguments = {cache_, target_}}};
        plan.after.insert(plan.after.end(), company->after.begin(), company->after.end());
        plan.answers = &company->answers;
      }
    }
    if (update.bytes > kLongUpload) link_.complete_facts();
    remove(folder, update.remove);
    std::uint64_t before_bytes = placed.bytes - std::min(update.bytes, placed.bytes);
    TransferLine progress(fmt::format("sending the project to {}", link_.name()), placed.bytes,
                          before_bytes);
    const auto note = [&](std::uint64_t bytes) {
      sent = std::max(sent, before_bytes + bytes);
      progress.update(before_bytes + bytes);
    };
    continue_parts(update, there, folder, note);
    before_bytes = placed.bytes - std::min(update.bytes, placed.bytes);
    const SendReport report = transfer_.send(folder, update.send, note, plan);
    placed.files -= std::min<std::uint64_t>(placed.files, report.not_sent.size());
    UploadParts(link_.shell(), folder, link_.info().checksum).end();
  };
  link_.with_reconnect(bring_up_to_date, [&] { return sent; });
  log::verbose("{} ({}) sent by {}", counted(placed.files, "file"), human_bytes(placed.bytes),
               transfer_.way());
  return placed;
}

void BoardUpload::continue_parts(CacheUpdate& update, const TreeListing& there,
                                 const std::string& folder, const TransferProgress& progress) {
  UploadParts parts(link_.shell(), folder, link_.info().checksum);
  std::vector<ProjectEntry> large;
  for (const ProjectEntry& entry : update.send) {
    if (entry.kind == EntryKind::file && entry.size_bytes >= kMinUploadPart) large.push_back(entry);
  }
  if (large.empty()) return;
  std::set<fs::path> whole;
  std::uint64_t done = 0;
  for (const ProjectEntry& entry : large) {
    const auto part = there.files.find(entry.path.string());
    const bool is_part = part != there.files.end() && part->second.is_file() &&
                         part->second.size_bytes >= kMinUploadPart &&
                         part->second.size_bytes <= entry.size_bytes;
    if (!is_part) continue;
    const auto note = [&](std::uint64_t bytes) { progress(done + bytes); };
    if (!parts.complete(entry, part->second.size_bytes, note)) continue;
    whole.insert(entry.path);
    done += entry.size_bytes;
    --update.files;
    update.bytes -= std::min(update.bytes, entry.size_bytes);
  }
  std::erase_if(update.send, [&](const ProjectEntry& one) { return whole.contains(one.path); });
  std::erase_if(large, [&](const ProjectEntry& one) { return whole.contains(one.path); });
  parts.begin(large);
}

TransferTotals BoardUpload::by_cache(const Project& project, UploadContext& company) {
  cache_ = link_.info().folder + "/cache/" + cache_name(project);
  TransferTotals placed;
  try {
    placed = send(project, cache_, &company);
  } catch (const Error&) {
    drop_unfinished(project);
    throw;
  }
  cache_bytes_ = project.bytes;
  is_cache_whole_ = true;
  interrupt::check();
  if (!company.answers.empty()) {
    link_.shell().require_ok(kCopy, company.answers.front());
    company.answers.erase(company.answers.begin());
    return placed;
  }
  const std::uint64_t free = board_free_bytes(link_.shell(), link_.info().folder);
  link_.with_reconnect([&] {
    if (free >= project.bytes + kMarginBytes) {
      link_.shell().change(kCopy, {cache_, target_});
      return;
    }
    log::info(
        "low disk space on {} ({} free; a second copy of the project needs {} plus {} for the "
        "recording): the run uses the board's copy itself, and the next run uploads the project "
        "again",
        link_.name(), human_bytes(free), human_bytes(project.bytes), human_bytes(kMarginBytes));
    link_.shell().change(kMoveProject, {cache_, target_});
    cache_.clear();
  });
  return placed;
}

// After an aborted upload, keeps complete files, and parts of large files that the next run
// continues.
void BoardUpload::drop_unfinished(const Project& project) {
  if (!link_.shell().is_connected()) return;
  const interrupt::MaskPendingSignal masked;
  try {
    const TreeListing there = transfer_.list(cache_);
    std::vector<std::string> half;
    std::uint64_t whole_bytes = 0;
    for (const ProjectEntry& entry : project.entries) {
      if (entry.kind != EntryKind::file) continue;
      const auto found = there.files.find(entry.path.string());
      if (found == there.files.end()) continue;
      const ListedFile& file = found->second;
      const bool whole = file.kind == EntryKind::file && file.size_bytes == entry.size_bytes;
      const bool part =
          file.is_file() && file.size_bytes >= kMinUploadPart && file.size_bytes < entry.size_bytes;
      if (whole || part) whole_bytes += file.size_bytes;
      if (!whole && !part) half.push_back(found->first);
    }
    remove(cache_, half);
    cache_bytes_ = whole_bytes;
    if (whole_bytes == 0) cache_.clear();
  } catch (const Error& error) {
    // Not reported: the first error was. The next run detects a partial file by its size and sends
    // it again.
    log::verbose("{}", error.what());
  }
}

std::string BoardUpload::remains() const {
  if (cache_.empty()) return "";
  if (is_cache_whole_) {
    return fmt::format("{} keeps a copy of the project in {} ({}); --clean-board removes it",
                       link_.name(), cache_, human_bytes(cache_bytes_));
  }
  return fmt::format(
      "{} keeps the uploaded part of the project, {} in {}; the next run sends the rest and "
      "continues large files where this run stopped; --clean-board removes them",
      link_.name(), human_bytes(cache_bytes_), cache_);
}

TransferTotals BoardUpload::directly(const Project& project) {
  return send(project, target_);
}

void BoardUpload::from_board(const std::string& folder) {
  const std::string way = std::string(trim(link_.shell().ask(kLinkTree, {folder, target_}).out));
  if (way == "hard") {
    log::verbose("large files of the run are hard links to those in {}", folder);
    return;
  }
  if (way == "soft") {
    log::info(
        "{0} and {1} are on different file systems of {2}: large files of the run are links to "
        "those in {0}",
        folder, link_.info().folder, link_.name());
    return;
  }
  log::info("{} cannot link to {}: the run uses a second copy of it", link_.name(), folder);
  const BoardAnswer size = link_.shell().ask(kSize, {folder});
  const std::string_view answer = trim(size.out);
  std::uint64_t kilobytes = 0;
  if (parse_u64(answer.substr(0, answer.find_first_of(" \t")), kilobytes)) {
    require_space(kilobytes * 1024, board_free_bytes(link_.shell(), link_.info().folder));
  }
  link_.shell().change(kCopy, {folder, target_});
}

// Returns entries for msprof's files, and for folders they need that the project does not have.
// Paths are relative to the folder around the project, so that "../src/acl.json" stays inside it.
std::vector<ProjectEntry> BoardUpload::extra_entries(const Project& project,
                                                     const std::vector<ExtraFile>& files) const {
  std::set<fs::path> folders;
  for (const ProjectEntry& entry : project.entries) {
    if (entry.kind == EntryKind::folder) folders.insert(entry.path);
  }
  const fs::path target(target_);
  std::vector<ProjectEntry> entries;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const fs::path inside = files[i].path.lexically_normal();
    const fs::path path = (target.filename() / inside).lexically_normal();
    if (path.is_absolute() || *path.begin() == "..") continue;
    if (!project.target.root.empty()) {
      std::vector<fs::path> missing;
      for (fs::path part = path.parent_path(); part.has_filename() && part != target.filename();
           part = part.parent_path()) {
        const fs::path in_project = part.lexically_relative(target.filename());
        if (folders.insert(in_project).second) missing.push_back(part);
      }
      std::for_each(missing.rbegin(), missing.rend(),
                    [&](const fs::path& part) { entries.push_back(folder_entry(part)); });
    }
    ProjectEntry entry;
    entry.path = path;
    entry.source = std::to_string(i);
    entry.mode = 0644;
    entry.mtime_ns = wall_clock_ns();
    entry.size_bytes = files[i].text.size();
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<BoardStep> BoardUpload::place_steps(const Project& project,
                                                const std::vector<ExtraFile>& files) const {
  std::size_t bytes = 0;
  for (const ExtraFile& file : files) bytes += file.text.size() + file.path.string().size();
  const bool fits =
      bytes <= kMaxPlacedBytes &&
      std::all_of(files.begin(), files.end(), [](const ExtraFile& file) {
        return is_one_line(file.path.string()) && file.text.find('\0') == std::string::npos;
      });
  if (!fits || files.empty()) return {};
  const std::string around = fs::path(target_).parent_path().string();
  const std::vector<ProjectEntry> entries = extra_entries(project, files);
  std::vector<BoardStep> steps = {room_step(around, entries)};
  for (const ProjectEntry& entry : entries) {
    if (entry.kind != EntryKind::file) continue;
    const std::string& text = files[std::stoul(entry.source.string())].text;
    steps.push_back({.script = kPlace, .arguments = {around, "./" + entry.path.string(), text}});
  }
  return steps;
}

void BoardUpload::place_files(const Project& project, const std::vector<ExtraFile>& files) {
  // Local folder for files that exist only during the upload.
  const TemporaryFolder scratch(fs::temp_directory_path() / "msprof_upload", {}, kOtherTemporary);
  std::vector<ProjectEntry> entries = extra_entries(project, files);
  for (ProjectEntry& entry : entries) {
    if (entry.kind != EntryKind::file) continue;
    const std::string& text = files[std::stoul(entry.source.string())].text;
    entry.source = scratch.path() / entry.source;
    std::ofstream stream(entry.source, std::ios::binary);
    stream << text;
    stream.close();
    if (!stream) {
      throw Error(Exit::cannot_write,
                  fmt::format("cannot write {}: {} (set TMPDIR to use another folder)",
                              entry.source.string(), errno_text(errno)));
    }
  }
  link_.with_reconnect([&] {
    transfer_.send(fs::path(target_).parent_path().string(), entries, [](std::uint64_t) {});
  });
}

}  // namespace msprof
