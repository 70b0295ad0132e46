#include "board/disk/leave.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/transfer_line.hpp"
#include "base/words.hpp"
#include "board/session/program.hpp"
#include "board/transfer/listing.hpp"
#include "collect/arrival.hpp"
#include "collect/outcome.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Not fetched: the store of an import is as large as its raw data, and the server keeps it.
constexpr std::string_view kStoreFolder = "sqlite";

// Arguments: $1 run folder, $2 target folder, absolute or below the home folder, $3 run. Replaces
// the run's output folder by a link, so that code that saves a recording needs no special case.
const BoardScript kOpen = {"making the folder of the recording", R"sh(
cd "$HOME" && mkdir -p "$2" && cd "$2" || exit 1
place=$(pwd -P)
mkdir ".msprof-$3" && rmdir "$1/profiling" && ln -s "$place/.msprof-$3" "$1/profiling" || exit 1
printf "%s\n" "$place"
)sh"};

// Arguments: $1 run folder, $2 target folder. Moves each capture to the target and records the
// move, so that a second attempt resumes. Prints one line each: "left HAS_DATA KILOBYTES NAME
// PATH".
const BoardScript kMoveRecording = {"moving the recording to its folder", R"sh(
umask 077
mkdir -p "$2" && cd "$1" || exit 1
for capture in profiling/PROF_* profiling/JOB*; do
  name=${capture##*/}
  case $name in *[!A-Za-z0-9_-]*) continue ;; esac
  [ -d "$capture" ] && [ ! -L "$capture" ] || continue
  target=$2/$name
  number=1
  while [ -e "$target" ]; do
    number=$((number + 1))
    target=$2/$name~$number
  done
  data=0
  for file in "$capture"/data/* "$capture"/host/data/* "$capture"/device_*/data/*; do
    [ ! -e "$file" ] || { data=1; break; }
  done
  size=$(du -sk "$capture" 2>/dev/null)
  mv "$capture" "$target" || exit 1
  printf "left %s %s %s %s\n" "$data" "${size%%[!0-9]*}" "$name" "$target" >> left
done
output=$(readlink profiling) && rm -rf "$output"
[ ! -f left ] || cat left
)sh"};

}  // namespace

BoardLeave::BoardLeave(BoardLink& link, LeaveOptions options)
    : link_(link), options_(std::move(options)) {}

void BoardLeave::open() {
  place_ = link_.kept_folder();
  if (options_.folder.empty()) return;
  const BoardAnswer answer =
      link_.shell().ask(kOpen, {link_.run_folder(), options_.folder, link_.run()});
  const std::string_view place = trim(answer.out);
  if (!answer.has_succeeded() || !place.starts_with('/') || printable(place) != place) {
    throw Error(Exit::cannot_write, fmt::format("--remote-output {} on {}: {}", options_.folder,
                                                link_.name(), answer.reason()));
  }
  place_ = options_.folder = place;
}

std::vector<LeftCapture> BoardLeave::move_captures() {
  std::vector<LeftCapture> captures;
  link_.with_reconnect([&] {
    const BoardAnswer answer = link_.shell().ask(kMoveRecording, {link_.run_folder(), place_});
    if (!answer.has_succeeded()) {
      throw Error(Exit::cannot_write,
                  fmt::format("{}: {}: {}", link_.name(), place_, answer.reason()));
    }
    captures.clear();
    for (const std::string_view line : split(answer.out, '\n')) {
      const auto words = split(line, ' ');
      std::uint64_t kilobytes = 0;
      if (words.size() < 5 || words[0] != "left" || !is_capture_name(words[3])) continue;
      parse_u64(words[2], kilobytes);
      const std::size_t head =
          words[0].size() + words[1].size() + words[2].size() + words[3].size() + 4;
      LeftCapture capture;
      capture.name = words[3];
      capture.place = line.substr(head);
      capture.bytes = kilobytes << 10;
      capture.has_data = words[1] == "1";
      if (printable(capture.place) == capture.place) captures.push_back(std::move(capture));
    }
  });
  return captures;
}

// Runs the server's msprof and shows its output. Returns its exit code.
int BoardLeave::run_tool(const std::vector<std::string>& words) {
  RunCommand command;
  command.main = tool_;
  command.working_folder = place_;
  command.arguments = words;
  command.environment = {"MSPROF_INNER=1"};
  command.sends_stdout_to_stderr = true;
  BoardProgram program(link_, command);
  const Outcome outcome = wait_for_end(program, {}, "msprof", [] {});
  if (outcome.end.exit_code && !outcome.end.is_connection_lost) return *outcome.end.exit_code;
  log::warn("{}", describe(outcome, "msprof on " + link_.name(), {}));
  return static_cast<int>(outcome.exit_code());
}

std::vector<std::string> BoardLeave::list_products(const std::string& capture,
                                                   const TreeListing& before,
                                                   std::uint64_t& bytes) {
  BoardTransfer transfer(link_.shell(), link_.info());
  std::vector<std::string> files;
  for (const auto& [path, file] : transfer.list(capture).files) {
    // Skips what export adds to the host's raw data: it is useful only on the server.
    if (!file.is_file() || before.files.contains(path) || is_below(path, kStoreFolder) ||
        is_below(path, "host"))
      continue;
    files.push_back(path);
    bytes = saturating_sum(bytes, file.size_bytes);
  }
  return files;
}

void BoardLeave::process(LeftCapture& capture, const fs::path& into) {
  BoardTransfer transfer(link_.shell(), link_.info());
  TreeListing before;
  link_.with_reconnect([&] { before = transfer.list(capture.place); });
  log::info("{} imports {}", link_.name(), capture.place);
  capture.exit_code = run_tool({"import", "-dir", capture.place});
  const bool is_read = *capture.exit_code == static_cast<int>(Exit::ok) ||
                       *capture.exit_code == static_cast<int>(Exit::partial_data);
  if (!is_read || !options_.export_products) return;
  const int exported = run_tool({"export", "all", "-dir", capture.place});
  capture.exit_code = static_cast<int>(gravest(to_exit(*capture.exit_code), to_exit(exported)));
  std::uint64_t bytes = 0;
  link_.with_reconnect([&] {
    std::uint64_t expected = 0;
    const auto files = list_products(capture.place, before, expected);
    if (files.empty()) return;
    fs::create_directories(into / capture.name);
    TransferLine progress(fmt::format("fetching the products from {}", link_.name()), expected);
    const FetchReport report = transfer.fetch(capture.place, files, into / capture.name,
                                              {.bytes = expected, .entries = files.size()},
                                              [&](std::uint64_t done) { progress.update(done); });
    bytes = report.bytes;
    capture.products = into / capture.name;
  });
  if (!capture.products.empty())
    log::verbose("products of {}: {} fetched", capture.name, human_bytes(bytes));
}

std::vector<LeftCapture> BoardLeave::all(const fs::path& into) {
  left_ = move_captures();
  if (tool_.empty()) return left_;
  // Ctrl-C is the usual way to stop an endless application; it must not cancel the following steps.
  const interrupt::MaskPendingSignal masked;
  for (LeftCapture& capture : left_) {
    if (!capture.has_data) continue;
    // The recording is safe: from now on an error affects only the products.
    try {
      interrupt::check();
      process(capture, into);
    } catch (const Error& error) {
      log::warn("{}: not imported on the server: {}", capture.place, error.what());
      capture.exit_code = static_cast<int>(error.code());
    }
  }
  return left_;
}

std::string BoardLeave::remains() const {
  if (left_.empty()) return "";
  const std::string copy =
      copy_command(link_.shell().login(), left_.front().place, link_.info().has_sftp);
  return fmt::format("{} has the raw data in {}; {} fetches {}", link_.name(), place_, copy,
                     left_.size() == 1 ? "them" : "the first");
}

}  // namespace msprof
