#include "board/ssh_host.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/findings.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "board/fetch.hpp"
#include "board/link.hpp"
#include "board/listing.hpp"
#include "board/program.hpp"
#include "board/transfer.hpp"
#include "board/upload.hpp"
#include "collect/elf_file.hpp"
#include "collect/run_changes.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// A project that is on the board already (--no-upload --remote-dir).
struct RemoteProject {
  Project project;  // its root is the board's folder; its entries are the acl.json files alone
  std::string program_head;
};

// $1 folder, $2 program. "root PATH", "head HEX…", one "acl PATH" a file; a line "missing …" says
// what is not there.
constexpr BoardScript kFind = {"looking at the project on the board", R"sh(
cd "$1" 2>/dev/null || { echo "missing no such folder"; exit 0; }
echo "root $(pwd -P)"
[ -f "./$2" ] || { echo "missing there is no file $2 in it"; exit 0; }
[ -x "./$2" ] || { echo "missing $2 in it is not executable"; exit 0; }
echo "head" $(od -An -tx1 -N20 "./$2" 2>/dev/null)
find . -name acl.json -type f ! -path "*/JOB*" ! -path "*/PROF*" ! -path "*/.msprof/*" |
  while IFS= read -r path; do echo "acl ${path#./}"; done
)sh"};

Target target_of(const std::string& root, const std::string& main) {
  Target target;
  target.root = root;
  target.main = fs::path(main).lexically_normal();
  target.working_folder = target.main.parent_path();
  return target;
}

// Looks for `main` (relative) in `folder` of the board (absolute, or below the account's home). The
// acl.json files come to `scratch`. Throws Error(nothing_to_do) naming what is missing,
// Error(usage) where the folder holds the one that runs take place in.
RemoteProject find_remote_project(BoardLink& link, const std::string& main,
                                  const std::string& folder, const fs::path& scratch) {
  const std::string inside = fs::path(main).lexically_normal().string();
  if (!is_acceptable_board_path(inside)) {
    throw Error(Exit::usage,
                fmt::format("-m {}: with --remote-dir it is a path inside that folder", main));
  }
  const BoardAnswer answer = link.shell().ask(kFind, {folder, inside});
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
    if (name == "head") found.program_head = parse_hex(value);
    if (name == "acl" && is_acceptable_board_path(value)) acl_files.emplace_back(value);
  }
  if (!root.starts_with('/')) {
    throw Error(Exit::board_unreachable,
                fmt::format("--remote-dir {} on {}: {}", folder, link.name(), answer.reason()));
  }
  if (is_below(link.facts().folder, root)) {
    throw Error(Exit::usage,
                fmt::format("--remote-dir {} on {} holds {}, where runs take place; name a folder "
                            "of the project alone, or another --board-dir",
                            folder, link.name(), link.facts().folder));
  }
  found.project.target = target_of(root, inside);
  BoardTransfer transfer(link.shell(), link.facts());
  if (!acl_files.empty()) transfer.fetch(root, acl_files, scratch, [](std::uint64_t) {});
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

// $1 the run folder, then the folders in it. The runs of others on the board are none of ours.
constexpr BoardScript kMakeRun = {"making the folder of the run", R"sh(
umask 077
mkdir -p "${1%/*}" && mkdir "$1" && cd "$1" && shift && mkdir "$@"
)sh"};

constexpr BoardScript kRemove = {"removing what is on the board", R"sh(
chmod -R u+rwX "$1" 2>/dev/null
rm -rf "$1"
)sh"};

// $1 from, $2 to: the whole folder, or of a run ("recording") the recording alone. "brought-home":
// the whole folder, and a mark that its results are elsewhere, too.
constexpr BoardScript kKeep = {"keeping the run on the board", R"sh(
umask 077
mkdir -p "${2%/*}" || exit 1
set -- "$1" "$2" "$3" "$1/profiling"/*
if [ "$3" = recording ] && [ -e "$4" ]; then mv "$1/profiling" "$2"; else mv "$1" "$2"; fi || exit 1
[ "$3" != brought-home ] || : > "$2/brought-home" || :
)sh"};

// $1 our folder: a line for each kept run without that mark, its size in KB and its name.
constexpr BoardScript kListKept = {"looking at what the board keeps", R"sh(
cd "$1/kept" 2>/dev/null || exit 0
for run in *; do
  [ -e "./$run" ] && [ ! -e "./$run/brought-home" ] || continue
  size=$(du -sk "./$run" 2>/dev/null)
  echo "${size%%[!0-9]*} $run"
done
)sh"};

// The project's folder on the board is named alike: an application may know its own place.
std::string folder_name(const Project& project) {
  std::string name = project.target.root.filename().string();
  return is_acceptable_board_path(name) ? name : "project";
}

}  // namespace

class SshHost::State {
 public:
  State(const BoardConfig& config, const BoardRunOptions& given)
      : options(given), link(config, given.reconnect_seconds) {}

  std::string tree() const { return link.run_folder() + '/' + std::string(kTreeName); }
  std::string project() const { return tree() + '/' + project_name; }
  std::string output() const { return link.run_folder() + '/' + std::string(kOutputName); }
  std::string on_board(const fs::path& in_project) const {
    return (fs::path(project()) / in_project).lexically_normal().string();
  }

  BoardRunOptions options;
  BoardLink link;
  bool connected = false;
  bool has_run = false;    // the run folder is on the board
  bool at_stake = false;   // it may have results that are nowhere else
  bool kept_safe = false;  // what could not be brought home stays there
  std::string project_name;
  std::string remote_folder;  // a project that was on the board already
  std::string remote_head;    // the first bytes of its program
  std::unique_ptr<BoardUpload> upload;
  std::unique_ptr<BoardFetch> fetch;
  std::string remains;
};

SshHost::SshHost(const BoardConfig& config, const BoardRunOptions& options)
    : state_(std::make_unique<State>(config, options)) {}

SshHost::~SshHost() = default;

std::string SshHost::name() const {
  return state_->link.name();
}

const BoardFacts& SshHost::facts() const {
  return state_->link.facts();
}

std::string SshHost::remains() const {
  return state_->remains;
}

void SshHost::connect() {
  state_->link.open(state_->options.force);
  state_->connected = true;
  if (state_->options.clean_board && !state_->options.force) refuse_to_lose_results();
}

void SshHost::refuse_to_lose_results() {
  const BoardAnswer answer = state_->link.shell().ask(kListKept, {facts().folder});
  std::vector<std::string> runs;
  for (const std::string_view line : split(answer.out, '\n')) {
    const auto at = line.find(' ');
    if (at == std::string_view::npos) continue;
    std::uint64_t kilobytes = 0;
    const bool told = parse_u64(line.substr(0, at), kilobytes);
    runs.push_back(printable(line.substr(at + 1)) +
                   (told ? fmt::format(" ({})", human_bytes(kilobytes * 1024)) : ""));
  }
  if (runs.empty() && answer.ok()) return;
  state_->options.clean_board = false;
  if (!answer.ok()) {
    throw Error(Exit::cannot_write, fmt::format("{}: cannot see what it keeps, so nothing was "
                                                "removed: {} (--force removes it unseen)",
                                                name(), answer.reason()));
  }
  const std::string_view them = runs.size() == 1 ? "it" : "them";
  throw Error(
      FindingId::kept_results,
      fmt::format(
          "{} keeps in {}/kept what {} recorded and nobody brought home: {}; "
          "nothing was removed. {} brings {}, --clean-board --force deletes {}",
          name(), facts().folder, runs.size() == 1 ? "a run" : fmt::format("{} runs", runs.size()),
          fmt::join(runs, ", "),
          copy_command(state_->link.shell().login(), facts().folder + "/kept", facts().has_sftp),
          them, them));
}

Project SshHost::existing_project(const std::string& main, const std::string& folder,
                                  const fs::path& scratch) {
  RemoteProject found = find_remote_project(state_->link, main, folder, scratch);
  state_->remote_folder = found.project.target.root.string();
  state_->remote_head = found.program_head;
  return std::move(found.project);
}

RunPlace SshHost::open(const Project& project) {
  const std::string head = state_->remote_folder.empty()
                               ? read_elf_head(project.target.root / project.target.main)
                               : state_->remote_head;
  const std::string why = why_not_for_board(head, facts().program_head, facts().machine);
  if (!why.empty()) {
    throw Error(Exit::application_failed,
                fmt::format("{} cannot run on {}: it is built for {} ({}); build it with the "
                            "board's cross compiler",
                            project.target.main.string(), name(), why, facts().machine));
  }
  state_->project_name = folder_name(project);
  state_->has_run = true;
  state_->link.shell().change(
      kMakeRun, {state_->link.run_folder(), std::string(kTreeName), std::string(kOutputName)});
  return {state_->project(), state_->output()};
}

Placed SshHost::place(const Project& project, const std::vector<PlacedFile>& files) {
  BoardLink& link = state_->link;
  state_->upload = std::make_unique<BoardUpload>(link, facts(), state_->project());
  Placed placed;
  if (!state_->remote_folder.empty()) {
    state_->upload->from_board(state_->remote_folder);
  } else if (state_->options.no_cache) {
    placed = state_->upload->directly(project);
  } else {
    placed = state_->upload->by_cache(project);
  }
  state_->upload->place_files(project, files);
  state_->fetch = std::make_unique<BoardFetch>(link, facts(), state_->project_name);
  state_->fetch->remember();
  return placed;
}

std::unique_ptr<RunningProgram> SshHost::start(const RunCommand& command) {
  BoardRun run;
  run.id = state_->link.run();
  run.main = state_->on_board(command.main);
  run.working_folder = state_->on_board(command.working_folder);
  run.acl_json = state_->on_board(command.acl_json);
  run.environment = command.environment;
  run.arguments = command.arguments;
  run.stdout_to_stderr = command.stdout_to_stderr;
  run.on_terminal = command.on_terminal;
  std::string last;
  for (const fs::path& folder : {command.main.parent_path() / "lib", fs::path("lib")}) {
    const std::string place = state_->on_board(folder);
    if (place == last || !state_->fetch->had_folder(place)) continue;
    run.libraries += (run.libraries.empty() ? "" : ":") + place;
    last = place;
  }
  state_->at_stake = true;
  return std::make_unique<BoardProgram>(state_->link.shell(), run,
                                        [this] { state_->link.recover(); });
}

std::optional<std::uint64_t> SshHost::free_bytes() {
  try {
    return board_free_bytes(state_->link.shell(), facts().folder);
  } catch (const Error& error) {
    // A lost connection is met again, and answered, by whoever waits for the application.
    log::verbose("{}", error.what());
    return std::nullopt;
  }
}

Fetched SshHost::fetch(const fs::path& into) {
  Fetched fetched = state_->fetch->all(into);
  state_->at_stake = false;
  return fetched;
}

std::string SshHost::keep() {
  const std::string place = state_->link.kept_folder();
  state_->kept_safe = true;
  try {
    state_->link.persistently([&] {
      state_->link.shell().change(kKeep, {state_->link.run_folder(), place, "recording"});
    });
  } catch (const Error& error) {
    log::verbose("{}", error.what());
  }
  return fmt::format("on {} in {} ({} brings them; --clean-board --force removes them)", name(),
                     place, copy_command(state_->link.shell().login(), place, facts().has_sftp));
}

void SshHost::clean_up() {
  if (!state_->connected) return;
  state_->connected = false;
  // The board's own business: a Ctrl-C from before must not leave it half done.
  const interrupt::Aside aside;
  try {
    // Where it was lost for good that has been said, and the board cleans itself.
    if (state_->link.shell().is_connected()) {
      state_->link.persistently([this] { remove_run(); });
    }
  } catch (const Error& error) {
    log::warn("{}", error.what());
  }
  state_->link.close();
}

void SshHost::remove_run() {
  BoardShell& shell = state_->link.shell();
  const bool clean = state_->options.clean_board && !state_->kept_safe;
  if (state_->has_run && state_->options.keep) {
    shell.change(kKeep, {state_->link.run_folder(), state_->link.kept_folder(),
                         state_->at_stake ? "run" : "brought-home"});
    log::info("the run stays on {} in {}", name(), state_->link.kept_folder());
  } else if (state_->has_run) {
    shell.change(kRemove, {state_->link.run_folder()});
  }
  state_->has_run = false;
  if (clean) {
    shell.change(kRemove, {facts().folder});
  } else if (state_->upload) {
    state_->remains = state_->upload->remains();
  }
}

void SshHost::clean_board() {
  state_->options.clean_board = true;
  try {
    connect();
    state_->link.persistently([this] { remove_run(); });
  } catch (const Error&) {
    state_->link.close();
    throw;
  }
  state_->link.close();
  log::info("nothing of msprof is on {} any more", name());
}

}  // namespace msprof
