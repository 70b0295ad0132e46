#include "board/transfer/remote_project.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "board/transfer/listing.hpp"
#include "board/transfer/transfer.hpp"
#include "collect/run_changes.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Arguments: $1 folder, $2 program. Prints "root PATH", "head HEX…", "needs libascendcl", "acl
// PATH" for each file; or "missing …" with the reason.
const BoardScript kFindProject = {"inspecting the project on the board", R"sh(
cd "$1" 2>/dev/null || { echo "missing no such folder"; exit 0; }
echo "root $(pwd -P)"
[ -f "./$2" ] || { echo "missing there is no file $2 in it"; exit 0; }
[ -x "./$2" ] || { echo "missing $2 in it is not executable"; exit 0; }
echo "head" $(od -An -tx1 -N20 "./$2" 2>/dev/null)
grep -q "libascendcl\.so" "./$2" && echo "needs libascendcl"
find . -name acl.json -type f ! -path "*/JOB*" ! -path "*/PROF*" ! -path "*/.msprof/*" \
  ! -path "*/msprof/cache/*" ! -path "*/msprof/kept/*" ! -path "*/msprof/runs/*" |
  while IFS= read -r path; do echo "acl ${path#./}"; done
)sh"};

ProjectTarget make_target(const std::string& root, const std::string& main) {
  ProjectTarget target;
  target.root = root;
  target.main = fs::path(main).lexically_normal();
  target.working_folder = target.main.parent_path();
  return target;
}

}  // namespace

RemoteProject find_remote_project(BoardLink& link, const std::string& main,
                                  const std::string& folder, const fs::path& scratch) {
  const std::string inside = fs::path(main).lexically_normal().string();
  if (!is_acceptable_board_path(inside)) {
    throw Error(Exit::usage,
                fmt::format("-m {}: with --remote-dir it must be a path inside that folder", main));
  }
  const BoardAnswer answer = link.shell().ask(kFindProject, {folder, inside});
  RemoteProject found;
  std::vector<std::string> acl_files;
  std::string root;
  for (const std::string_view line : split(answer.out, '\n')) {
    const auto at = line.find(' ');
    const std::string_view name = line.substr(0, at);
    const std::string_view value = at == std::string_view::npos ? "" : line.substr(at + 1);
    if (name == "missing") {
      throw Error(Exit::nothing_to_do,
                  fmt::format("--remote-dir {} on {}: {}", folder, link.name(), printable(value)));
    }
    if (name == "root") root = value;
    if (name == "needs") found.project.is_for_cann = true;
    if (name == "head") found.program_head = parse_hex(value);
    if (name == "acl" && is_acceptable_board_path(value)) acl_files.emplace_back(value);
  }
  if (!root.starts_with('/')) {
    throw Error(Exit::board_unreachable,
                fmt::format("--remote-dir {} on {}: {}", folder, link.name(), answer.reason()));
  }
  if (is_below(link.info().folder, root)) {
    throw Error(Exit::usage,
                fmt::format("--remote-dir {} on {} contains {}, where msprof keeps its runs; give "
                            "a folder that holds only the project, or another --board-dir",
                            folder, link.name(), link.info().folder));
  }
  found.project.target = make_target(root, inside);
  BoardTransfer transfer(link.shell(), link.info());
  // Passes no listed size: acl.json files are small and fit into the allowance for growth.
  if (!acl_files.empty())
    transfer.fetch(root, acl_files, scratch, {.entries = acl_files.size()}, [](std::uint64_t) {});
  for (const std::string& path : acl_files) {
    std::error_code error;
    if (!fs::is_regular_file(scratch / path, error)) continue;
    ProjectEntry entry;
    entry.path = path;
    entry.source = scratch / path;
    found.project.acl_files.push_back(entry.path);
    found.project.entries.push_back(std::move(entry));
  }
  return found;
}

}  // namespace msprof
