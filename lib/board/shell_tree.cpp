#include "board/shell_tree.hpp"

#include <fmt/format.h>

#include <set>

#include "base/log.hpp"
#include "base/text.hpp"
#include "board/facts.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Lines: 'd' or 'f', then a name with "./" in front; folders come before what they hold, so that no
// name is looked up through a link that has to go.
constexpr BoardScript kMakeRoom = {"making room for the project's files", R"sh(
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

// Lines: permissions (or '-' where the folder is only to be there), a blank, the name.
constexpr BoardScript kMakeFolders = {"making the project's folders", R"sh(
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

// Two lines a link: what it says, its name.
constexpr BoardScript kMakeLinks = {"making the project's links", R"sh(
cd "$1" || exit 1
while IFS= read -r target && IFS= read -r name
do
  ln -s -- "$target" "$name" || exit 1
done
)sh"};

std::string on_board(const fs::path& path) {
  return "./" + path.string();
}

void change(BoardShell& shell, const BoardScript& script, const std::string& folder,
            const std::string& lines) {
  if (lines.empty()) return;
  const BoardAnswer answer = shell.ask(script, {folder}, lines);
  if (!answer.ok()) throw_board_cannot_write(shell, folder, answer.reason());
}

// The folders of `entries` and all that hold something of them, sorted: parents first.
std::set<fs::path> folders_of(const std::vector<ProjectEntry>& entries) {
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
  log::warn("not uploaded: {}: its name has a line break, which only a board with tar takes",
            printable(entry.path.string()));
  report.not_sent.push_back(entry.path);
}

}  // namespace

bool is_one_line(const std::string& name) {
  return name.find('\n') == std::string::npos;
}

void make_room(BoardShell& shell, const std::string& folder,
               const std::vector<ProjectEntry>& entries) {
  std::string lines;
  for (const fs::path& path : folders_of(entries)) {
    if (is_one_line(path.string())) lines += "d" + on_board(path) + "\n";
  }
  for (const ProjectEntry& entry : entries) {
    const bool listed = entry.kind != EntryKind::folder && is_one_line(entry.path.string());
    if (listed) lines += "f" + on_board(entry.path) + "\n";
  }
  change(shell, kMakeRoom, folder, lines);
}

void make_tree(BoardShell& shell, const std::string& folder,
               const std::vector<ProjectEntry>& entries, SendReport& report) {
  make_room(shell, folder, entries);
  std::set<fs::path> folders = folders_of(entries);
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
  change(shell, kMakeFolders, folder, folder_lines);
  change(shell, kMakeLinks, folder, link_lines);
}

void throw_board_cannot_write(BoardShell& shell, const std::string& folder,
                              const std::string& reason) {
  std::string message =
      fmt::format("{}: cannot write below {}: {}", shell.login().name(), printable(folder), reason);
  try {
    message += fmt::format(" ({} are free there)", human_bytes(board_free_bytes(shell, folder)));
  } catch (const ConnectionLost&) {
    throw;
  } catch (const Error& error) {
    log::verbose("{}", error.what());
  }
  message += "; --board-dir, or board_dir of the ini, names another place";
  throw Error(Exit::cannot_write, message);
}

}  // namespace msprof
