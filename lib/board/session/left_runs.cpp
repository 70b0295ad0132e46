#include "board/session/left_runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

using State = LeftRun::State;

// Arguments: msprof's folders. Prints "in FOLDER" and "run NAME STATE AGE WHO FOLLOWER", with "-"
// for unknown values.
const BoardScript kLeftRuns = {"looking for earlier runs", std::string(kLockFunctions) + R"sh(
read -r up rest < /proc/uptime
up=${up%%.*}
for ours do
cd "$ours" 2>/dev/null || continue
echo "in $ours"
look
for place in runs/* kept/*; do
  [ -d "$place" ] && [ ! -e "$place/brought-home" ] || continue
  name=${place##*/}
  case $name in *[!A-Za-z0-9_-]*) continue ;; esac
  told=kept age=- by=- follower=-
  if [ -e "$place/survive/begun" ]; then
    keeper= started=
    read -r keeper started rest < "$place/survive/pid"
    read -r by < "$place/survive/who"
    told=cut
    if [ -e "$place/survive/end" ]; then told=ended
    elif alive "$keeper" "$started"; then
      told=runs
      read -r begin < "$place/survive/start" && age=$((up - begin))
    fi
    first= second=
    read -r first second third < "$place/survive/present" &&
      alive "$first" "$second" && follower=$third
  elif [ "$holder" = "$name" ] && alive "$pid" "$start"; then
    told=busy
  fi
  echo "run $name $told $age ${by:--} ${follower:--}"
done 2>/dev/null
done
)sh"};

// Arguments: $1 msprof's folder, $2 run. Moves a kept run to runs/. An old recording without run
// state becomes its output folder.
const BoardScript kBringBack = {"continuing an earlier run", std::string(kLockFunctions) + R"sh(
umask 077
cd "$1" || exit 1
if [ ! -d "runs/$2" ]; then
  [ -d "kept/$2" ] && mkdir -p runs || exit 4
  if [ -d "kept/$2/survive" ] || [ -d "kept/$2/tree" ]; then
    mv "kept/$2" "runs/$2" || exit 1
  else
    mkdir "runs/$2" && mv "kept/$2" "runs/$2/profiling" && mkdir "runs/$2/tree" || exit 1
  fi
fi
keeper= started=
read -r keeper started rest 2>/dev/null < "runs/$2/survive/pid"
alive "$keeper" "$started" || rm -rf "runs/$2/survive/closing"
)sh"};

constexpr int kNoSuchRun = 4;

// Arguments: $1 msprof's folder, $2 run, $3 what to keep: "run" or "recording". Moves it to kept/
// and removes the rest; a run with a keeper is left to it. Prints a word if something is in kept/.
const BoardScript kSaveRun = {"keeping the results on the board",
                              std::string(kLockFunctions) + kUnmountFunction + kKeepFunctions +
                                  R"sh(
umask 077
cd "$1" || exit 1
[ ! -e "runs/$2/survive/begun" ] || exit 0
if [ "$3" = recording ]; then
  keep_recording "$2" >/dev/null || exit 1
elif [ -e "kept/$2" ]; then
  rmdir "runs/$2" 2>/dev/null
elif [ -e "runs/$2" ]; then
  mkdir -p kept && mv "runs/$2" "kept/$2" || exit 1
fi
[ ! -e "kept/$2" ] || echo kept
)sh"};

const BoardScript kText = {"reading the files of another msprof", R"sh(
[ ! -f "$1" ] || exec cat "$1"
)sh"};

// Arguments: $1 own run, then msprof's folders. Prints a line for each run in kept/, and each
// recording left in runs/, that was not fetched: its size in KB and its name, or its path if it is
// not in the first kept/.
const BoardScript kListKept = {"listing the results kept on the board", R"sh(
own=$1
shift
kept=$1/kept/
holds() { [ -e "$1" ]; }
for ours do
  for run in "$ours"/kept/* "$ours"/runs/*; do
    [ -e "$run" ] && [ ! -e "$run/brought-home" ] || continue
    case $run in
      */runs/"$own") continue ;;
      */runs/*) holds "$run"/profiling/* || continue ;;
    esac
    size=$(du -sk "$run" 2>/dev/null)
    echo "${size%%[!0-9]*} ${run#"$kept"}"
  done
done
)sh"};

std::optional<State> parse_state(std::string_view word) {
  if (word == "runs") return State::running;
  if (word == "ended") return State::ended;
  if (word == "cut") return State::cut;
  if (word == "kept") return State::kept;
  if (word == "busy") return State::busy;
  return std::nullopt;
}

std::string format_runs(const std::vector<LeftRun>& runs) {
  std::string text;
  for (const LeftRun& run : runs) text += "\n  " + run.in_words();
  return text;
}

}  // namespace

std::string LeftRun::in_words() const {
  std::string text;
  switch (state) {
    case State::running:
      text = age_seconds ? fmt::format("runs for {} s", *age_seconds) : "runs";
      break;
    case State::ended:
      text = "has ended, its results have not been fetched";
      break;
    case State::cut:
      text = "was interrupted, its recording has not been fetched";
      break;
    case State::kept:
      text = "its recording is kept";
      break;
    case State::busy:
      text = "its msprof is connected or may reconnect";
      break;
  }
  if (!who.empty()) text += ", started by " + who;
  if (!follower.empty()) text += ", followed by " + follower;
  return fmt::format("{} ({})", name, text);
}

std::vector<LeftRun> parse_left_runs(std::string_view answer) {
  std::vector<LeftRun> runs;
  const auto known = [](std::string_view word) {
    return word == "-" ? std::string() : printable(word);
  };
  std::string folder;
  for (const std::string_view line : split(answer, '\n')) {
    if (line.starts_with("in ")) folder = line.substr(3);
    const auto words = split(line, ' ');
    if (words.size() != 6 || words[0] != "run" || words[1].empty()) continue;
    const auto state = parse_state(words[2]);
    if (!state || words[1].find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                             "0123456789_-") != std::string_view::npos) {
      continue;
    }
    LeftRun run;
    run.name = words[1];
    run.folder = folder;
    run.state = *state;
    std::uint64_t age = 0;
    if (parse_u64(words[3], age)) run.age_seconds = age;
    run.who = known(words[4]);
    run.follower = known(words[5]);
    runs.push_back(std::move(run));
  }
  return runs;
}

std::vector<LeftRun> list_left_runs(BoardShell& shell, const std::string& folder) {
  const BoardAnswer answer = shell.ask(kLeftRuns, find_own_folders(folder));
  return parse_left_runs(answer.out);
}

LeftRun choose_left_run(const std::vector<LeftRun>& runs, const RunChoice& choice,
                        const std::string& board) {
  std::vector<LeftRun> candidates;
  for (const LeftRun& run : runs) {
    const bool fits = choice.name.empty() ? run.state != State::busy : run.name == choice.name;
    if (fits) candidates.push_back(run);
  }
  if (candidates.empty()) {
    throw Error(Exit::nothing_to_do,
                fmt::format("{} has no {}{}", board,
                            choice.name.empty() ? "earlier run that can be continued"
                                                : "run " + choice.name,
                            runs.empty() ? "" : "; its runs are:" + format_runs(runs)));
  }
  if (candidates.size() > 1) {
    throw Error(Exit::usage, fmt::format("{} has {} runs; give one of them:{}", board,
                                         candidates.size(), format_runs(candidates)));
  }
  LeftRun run = candidates.front();
  if (run.state == State::busy || (!run.follower.empty() && !choice.force)) {
    throw Error(Exit::board_unreachable,
                fmt::format("{}: {}{}", board, run.in_words(),
                            run.state == State::busy ? ""
                                                     : "; --force connects to it anyway, and then "
                                                       "only one of the two gets its results"));
  }
  if (run.state == State::running && !choice.waits) {
    throw Error(Exit::nothing_to_do,
                fmt::format("{}: the run {} is still in progress, so nothing was fetched: --attach "
                            "{} waits for its end, --fetch {} fetches its results afterwards",
                            board, run.in_words(), run.name, run.name));
  }
  return run;
}

std::vector<LeftRun> fetchable_runs(const std::vector<LeftRun>& runs, const std::string& board) {
  std::vector<LeftRun> fetchable;
  for (const LeftRun& run : runs) {
    const bool has_ended = run.state != State::busy && run.state != State::running;
    if (has_ended && run.follower.empty()) {
      fetchable.push_back(run);
    } else {
      log::info("not fetched from {}: {}", board, run.in_words());
    }
  }
  if (fetchable.empty())
    throw Error(Exit::nothing_to_do, fmt::format("{} has no earlier run to fetch", board));
  return fetchable;
}

std::vector<std::string> list_kept_results(BoardShell& shell, const std::string& folder,
                                           const std::string& own_run) {
  std::vector<std::string> arguments = find_own_folders(folder);
  arguments.insert(arguments.begin(), own_run);
  const BoardAnswer answer = shell.ask(kListKept, arguments);
  if (!answer.has_succeeded()) {
    throw Error(Exit::cannot_write,
                fmt::format("{}: cannot list the results kept there, so nothing was removed: {} "
                            "(--force removes them anyway)",
                            shell.login().name(), answer.reason()));
  }
  std::vector<std::string> runs;
  for (const std::string_view line : split(answer.out, '\n')) {
    const auto at = line.find(' ');
    if (at == std::string_view::npos) continue;
    std::uint64_t kilobytes = 0;
    const bool told = parse_u64(line.substr(0, at), kilobytes);
    runs.push_back(printable(line.substr(at + 1)) +
                   (told ? fmt::format(" ({})", human_bytes(kilobytes * 1024)) : ""));
  }
  return runs;
}

void bring_back_run(BoardLink& link) {
  const BoardAnswer answer = link.shell().ask(kBringBack, {link.info().folder, link.run()});
  if (answer.has_succeeded()) return;
  if (answer.end.exit_code == kNoSuchRun) {
    throw Error(
        Exit::nothing_to_do,
        fmt::format("{}: the run {} no longer exists: it was fetched or removed in the meantime",
                    link.name(), link.run()));
  }
  throw Error(Exit::cannot_write, fmt::format("{}: continuing the run {}: {}", link.name(),
                                              link.run(), answer.reason()));
}

bool save_run(BoardLink& link, bool is_whole) {
  const BoardAnswer answer =
      link.shell().ask(kSaveRun, {link.info().folder, link.run(), is_whole ? "run" : "recording"});
  link.shell().require_ok(kSaveRun, answer);
  return !answer.out.empty();
}

std::string survival_text(BoardLink& link, const std::string& name) {
  // The state of a run lists all names in its folder, so the limit is large.
  return link.shell()
      .ask(kText, {link.run_folder() + "/survive/" + name}, {}, kMaxListingBytes)
      .out;
}

}  // namespace msprof
