#include "board/transfer/outgoing.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <set>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "board/session/info.hpp"
#include "collect/file_tree.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

using Seconds = std::chrono::seconds;

constexpr std::chrono::nanoseconds kRacy = Seconds(2);

// Input lines: 'd' or 'f', then a name prefixed with "./". A folder precedes its contents, so that
// no name is resolved through a link that is to be removed.
const BoardScript kMakeRoom = {"removing files that block the project's files", R"sh(
cd "$1" 2>/dev/null || exit 0
[ -n "$(ls -A 2>/dev/null)" ] || exit 0
set --
while IFS= read -r line
do
  name=${line#?}
  case $line in
    (d*)
      if [ -L "$name" ] || { [ -e "$name" ] && [ ! -d "$name" ]; }
      then
        rm -f "$name" || exit 1
      fi ;;
    (*)
      if [ -e "$name" ] || [ -L "$name" ]
      then
        set -- "$@" "$name"
      fi
      if [ $# -ge 64 ]
      then
        rm -rf "$@" || exit 1
        set --
      fi ;;
  esac
done
[ $# -eq 0 ] || rm -rf "$@"
)sh"};

// Input lines: permissions (or '-' if the folder only has to exist), a blank, the name.
const BoardScript kMakeFolders = {"making the project's folders", R"sh(
mkdir -p "$1" && cd "$1" || exit 1
while IFS= read -r line
do
  name=${line#* }
  mkdir -p "$name" || exit 1
  case $line in
    (-*) ;;
    (*) chmod "${line%% *}" "$name" || exit 1 ;;
  esac
done
)sh"};

// Two input lines per link: its target, its name.
const BoardScript kMakeLinks = {"making the project's links", R"sh(
cd "$1" || exit 1
while IFS= read -r target && IFS= read -r name
do
  ln -s -- "$target" "$name" || exit 1
done
)sh"};

std::string on_board(const fs::path& path) {
  return "./" + path.string();
}

void change_folder(BoardShell& shell, const BoardScript& script, const std::string& folder,
                   const std::string& lines) {
  if (lines.empty()) return;
  const BoardAnswer answer = shell.ask(script, {folder}, lines);
  if (!answer.has_succeeded()) throw_board_cannot_write(shell, folder, answer.reason());
}

// Returns the folders in `entries` and all parent folders, sorted: parents first.
std::set<fs::path> needed_folders(const std::vector<ProjectEntry>& entries) {
  std::set<fs::path> folders;
  for (const ProjectEntry& entry : entries) {
    if (entry.kind == EntryKind::folder) folders.insert(entry.path);
    for (fs::path part = entry.path.parent_path(); !part.empty(); part = part.parent_path()) {
      if (!folders.insert(part).second) break;
    }
  }
  return folders;
}

void warn_of_name(const ProjectEntry& entry, SendReport& report) {
  log::warn("not uploaded: {}: its name has a line break, which needs tar on the board",
            printable(entry.path.string()));
  report.not_sent.push_back(entry.path);
}

}  // namespace

// O_NONBLOCK: prevents a hang if the file was replaced by a pipe after it was examined.
SourceFile::SourceFile(const std::filesystem::path& path)
    : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {
  if (!fd_ || ::fstat(fd_.get(), &status_) != 0) {
    error_ = errno;
  } else if (!S_ISREG(status_.st_mode)) {
    error_ = EINVAL;
  }
}

std::int64_t SourceFile::copied_mtime_seconds() const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto age = now - std::chrono::nanoseconds(mtime_ns(status_));
  const bool racy = std::chrono::abs(age) <= kRacy;
  return static_cast<std::int64_t>(status_.st_mtim.tv_sec) - (racy ? 1 : 0);
}

std::size_t SourceFile::read(std::span<char> buffer) {
  interrupt::check();
  const std::uint64_t left = size_bytes() - read_bytes_;
  const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), left));
  ssize_t count = 0;
  do {
    count = ::read(fd_.get(), buffer.data(), most);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return 0;
  read_bytes_ += static_cast<std::uint64_t>(count);
  return static_cast<std::size_t>(count);
}

bool SourceFile::has_changed() const {
  struct stat now = {};
  return read_bytes_ != size_bytes() || ::fstat(fd_.get(), &now) != 0 ||
         now.st_size != status_.st_size || mtime_ns(now) != mtime_ns(status_);
}

bool open_for_sending(const SourceFile& file, const ProjectEntry& entry, SendReport& report) {
  if (file.error() == 0) {
    ++report.files;
    return true;
  }
  log::warn("not uploaded: {}: {}", printable(entry.path.string()), errno_text(file.error()));
  report.not_sent.push_back(entry.path);
  return false;
}

std::function<std::size_t(char*, std::size_t)> counted_reads(SourceFile& file, SendReport& report,
                                                             const TransferProgress& progress) {
  return [&](char* buffer, std::size_t size) {
    const std::size_t count = file.read(std::span(buffer, size));
    report.bytes += count;
    if (progress && count > 0) progress(report.bytes);
    return count;
  };
}

bool told_of_change(const SourceFile& file, const ProjectEntry& entry) {
  if (!file.has_changed()) return false;
  log::warn(
      "{} changed while it was sent: its copy on the board may be inconsistent and is sent again "
      "for the next run",
      entry.path.string());
  return true;
}

bool is_one_line(const std::string& name) {
  return name.find('\n') == std::string::npos;
}

BoardStep room_step(const std::string& folder, const std::vector<ProjectEntry>& entries) {
  BoardStep step = {.script = kMakeRoom, .arguments = {folder}};
  for (const fs::path& path : needed_folders(entries)) {
    if (is_one_line(path.string())) step.lines += "d" + on_board(path) + "\n";
  }
  for (const ProjectEntry& entry : entries) {
    const bool listed = entry.kind != EntryKind::folder && is_one_line(entry.path.string());
    if (listed) step.lines += "f" + on_board(entry.path) + "\n";
  }
  return step;
}

void make_room(BoardShell& shell, const std::string& folder,
               const std::vector<ProjectEntry>& entries) {
  const BoardAnswer answer = shell.ask_each({room_step(folder, entries)}).front();
  if (!answer.has_succeeded()) throw_board_cannot_write(shell, folder, answer.reason());
}

void make_tree(BoardShell& shell, const std::string& folder,
               const std::vector<ProjectEntry>& entries, SendReport& report) {
  make_room(shell, folder, entries);
  std::set<fs::path> folders = needed_folders(entries);
  std::string folder_lines = "- .\n";
  std::string link_lines;
  for (const ProjectEntry& entry : entries) {
    if (!is_one_line(entry.path.string()) || !is_one_line(entry.link)) {
      warn_of_name(entry, report);
    } else if (entry.kind == EntryKind::folder) {
      folder_lines += fmt::format("{:o} {}\n", (entry.mode & 0777U) | 0700U, on_board(entry.path));
      folders.erase(entry.path);
    } else if (entry.kind == EntryKind::link) {
      link_lines += entry.link + "\n" + on_board(entry.path) + "\n";
    }
  }
  for (const fs::path& path : folders) {
    if (is_one_line(path.string())) folder_lines += "- " + on_board(path) + "\n";
  }
  change_folder(shell, kMakeFolders, folder, folder_lines);
  change_folder(shell, kMakeLinks, folder, link_lines);
}

void throw_board_cannot_write(BoardShell& shell, const std::string& folder,
                              const std::string& reason) {
  std::string message =
      fmt::format("{}: cannot write in {}: {}", shell.login().name(), printable(folder), reason);
  try {
    message += fmt::format(" ({} free there)", human_bytes(board_free_bytes(shell, folder)));
  } catch (const ConnectionLost&) {
    throw;
  } catch (const Error& error) {
    log::verbose("{}", error.what());
  }
  message += "; choose another folder with --board-dir, or board_dir in the ini";
  throw Error(Exit::cannot_write, message);
}

}  // namespace msprof
