#include "board/session/survive.hpp"

#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/random_name.hpp"
#include "base/read_write.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFollowStep{50};
constexpr std::chrono::seconds kKeeperLimit{60};
constexpr std::chrono::seconds kSeenInterval{1};
constexpr std::uint64_t kFileLimitBlock = 512;  // unit of ulimit -f
constexpr std::size_t kMaxKeeperAnswer = 64 << 10;
constexpr std::string_view kKeeperWord = "@msprof-keeper@";
// Without --timeout: how long a run continues while no msprof follows it.
constexpr int kAloneHours = 24;
// Limits for the kept bytes of each output stream.
constexpr std::uint64_t kMinKeptOutput = 64 << 10;
constexpr std::uint64_t kMaxKeptOutput = 64 << 20;

// Arguments: $1 run, $2 seconds that the results wait for an msprof to fetch them, $3 time limit in
// seconds (0: none), $4 seconds that the run may continue without an msprof, $5 blocks of output to
// keep, $6 user; then the application as for BoardProgram: folder, program, acl.json, library
// folders, Python folders, number of variables, variables, arguments. The current folder is
// msprof's folder on the board.
//
// The output streams go through pipes to two `cat` processes with a file size limit, so that the
// limit does not affect the application. If the run fills the disk, removing the ballast file makes
// room to record its end. The keeper runs in the foreground of its command because processes that a
// shell starts in the background always ignore SIGINT.
const std::string kKeeper = std::string(kMarkedFunction) + kEndFunctions + kLockFunctions +
                            kUnmountFunction + kKeepFunctions + kSweepFunction + R"sh(
run=$1 window=$2 limit=$3 alone_limit=$4 blocks=$5 me=$6
shift 6
mask=$(umask)
umask 077
ours=$(pwd)
s=$ours/runs/$run/survive
trap "" HUP PIPE
mkdir "$s/begun" 2>/dev/null || { echo "@msprof-keeper@ again"; exit 0; }
echo "$$ $(start_of $$)" > "$s/pid"
echo "$me" > "$s/who"
look
[ "$holder" != "$run" ] || sign survives || exit 71
up_now
begin=$up
echo "$begin" > "$s/start"
echo "@msprof-keeper@ $$"
exec </dev/null >/dev/null 2>&1
dd if=/dev/urandom of="$s/ballast" bs=4096 count=16
launch() (
  folder=$1 main=$2 acl=$3 libraries=$4 modules=$5 count=$6
  shift 6
  umask "$mask"
  failed() { echo "$1" > "$s/failed"; exit 126; }
)sh" + kEnterApplication + R"sh(
  exec sh -c 'trap ": > \"$0/noexec\"" EXIT; exec "$@" 2>&3 3>&-' "$s" "$main" "$@"
)
pump() {
  ( trap "" XFSZ; ulimit -f "$blocks"; exec cat >> "$s/$1" ) || { : > "$s/$1.cut"; cat >/dev/null; }
}
present() {
  read -r first second rest < "$s/present" && alive "$first" "$second"
}
end_it() {
  echo "$1" > "$s/ended-by"
  end_run "$run"
  exit 0
}
watch() {
  trap 'kill $nap; exit 0' TERM
  tick=30
  [ "$limit" = 0 ] || tick=1
  alone=0
  while :; do
    sleep $tick &
    nap=$!
    wait $nap
    up_now
    if present; then alone=0; else alone=$((alone + tick)); fi
    age=$((up - begin))
    if [ "$limit" != 0 ] && [ $age -ge "$limit" ]; then
      [ $alone = 0 ] && [ $age -lt $((limit + 15)) ] || end_it limit
    fi
    [ $alone -lt "$alone_limit" ] || end_it alone
  done
}
watch &
watcher=$!
{
  {
    {
      launch "$@"
      code=$?
      rm -f "$s/ballast"
      echo $code > "$s/code"
      up_now
      echo $((up - begin)) > "$s/took"
      sweep "$run"
      echo "$left" > "$s/left"
    } | pump out 3>&-
  } 3>&1 >/dev/null | pump err
}
kill $watcher
read -r code < "$s/code"
read -r left < "$s/left"
read -r took < "$s/took"
by=-
read -r by < "$s/ended-by"
echo "${code:-255} ${left:-0} ${took:-0} ${by:--}" > "$s/end.new" && mv "$s/end.new" "$s/end"
patience=$window
while [ "$patience" -gt 0 ]; do
  [ ! -d "$s/closing" ] || exit 0
  [ -d "$s" ] || break
  if present; then patience=$window; else patience=$((patience - 1)); fi
  sleep 1
done
if mkdir "$s/closing"; then keep_recording "$run"; else [ ! -d "$s" ] || exit 0; fi
look
[ "$pid" != $$ ] || rm -rf lock
)sh";

// Arguments: $1 folder of the run, $2 time limit. The keeper script is on stdin.
const BoardScript kPrepare = {"preparing a run that survives its connection", R"sh(
umask 077
mkdir -p "$1/survive" && cd "$1/survive" || exit 1
[ ! -e begun ] || exit 0
cat > keeper && echo "$2" > limit && : > out && : > err
)sh"};

// Arguments: $1 folder, $2 name.
const BoardScript kSave = {"writing the files for another msprof", R"sh(
umask 077
cd "$1" && cat > "$2.new" && mv "$2.new" "$2"
)sh"};

// Arguments: $1 msprof's folder, then the keeper's arguments. The keeper has its own session,
// so it survives the end of a terminal or connection.
constexpr const char* kStartKeeper = R"sh(
cd "$1" || exit 71
shift
exec sh "runs/$1/survive/keeper" "$@"
)sh";

// Arguments: $1 folder, $2 and $3 numbers of the first missing byte of each stream, from 1. Ends
// with the run, its keeper, or the connection, which closes its stdin.
const BoardScript kFollow = {"following the application", std::string(kLockFunctions) + R"sh(
cd "$1" || exit 1
exec 3<&0 </dev/null
tail -c "+$2" -f out 3<&- & a=$!
tail -c "+$3" -f err >&2 3<&- & b=$!
c= nap=
trap 'kill $a $b $c $nap 2>/dev/null; exit 0' TERM HUP PIPE
{ while read -r word; do :; done <&3; kill $$; } >/dev/null 2>&1 & c=$!
exec 3<&-
read -r keeper start < pid
while [ ! -e end ] && alive "$keeper" "$start"; do
  sleep 1 >/dev/null 2>&1 & nap=$!
  wait $nap
done
kill $a $b $c 2>/dev/null
)sh"};

// Arguments: $1 folder. Prints "runs" while there is a keeper, "end CODE LEFT SECONDS BY", "failed
// WHY", "noexec", "cut STREAM", "seen OUT ERR".
const BoardScript kState = {"querying how the run ended", std::string(kLockFunctions) + R"sh(
cd "$1" || exit 1
read -r keeper start < pid
alive "$keeper" "$start" && echo runs
[ ! -e end ] || echo "end $(cat end)"
[ ! -e failed ] || echo "failed $(cat failed)"
[ ! -e noexec ] || echo noexec
for stream in out err; do [ ! -e $stream.cut ] || echo "cut $stream"; done
[ ! -e seen ] || echo "seen $(cat seen)"
)sh"};

const BoardScript kRest = {"fetching the application's output", R"sh(
cd "$1" && exec tail -c "+$3" "$2"
)sh"};

// Arguments: $1 run, $2 signal, $3 seconds to wait for the end.
const BoardScript kSignalMarked = {"ending the application",
                                   std::string(kMarkedFunction) + kEndFunctions + R"sh(
for process in $(marked "$1"); do kill "-$2" "$process" 2>/dev/null; done
await_run "$1" "$3"
)sh"};

// Returns the signal for an exit code: a shell reports a process that was killed by a signal as 128
// plus the signal number. Returns 0 for signals that do not kill a process.
int to_signal(int code) {
  constexpr std::array kHarmless = {SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP,
                                    SIGTTIN, SIGTTOU, SIGURG,  SIGWINCH};
  const int number = code - 128;
  if (number <= 0 || number >= SIGRTMIN || ::sigabbrev_np(number) == nullptr) return 0;
  return std::find(kHarmless.begin(), kHarmless.end(), number) == kHarmless.end() ? number : 0;
}

}  // namespace

SurvivingProgram::SurvivingProgram(BoardLink& link, const RunCommand& command,
                                   const std::string& before, std::string hint)
    : link_(link),
      hint_(std::move(hint)),
      token_(random_name()),
      out_{command.sends_stdout_to_stderr ? STDERR_FILENO : STDOUT_FILENO},
      err_{STDERR_FILENO} {
  const std::uint64_t output_bytes = std::clamp(
      board_free_bytes(link_.shell(), link_.info().folder) / 16, kMinKeptOutput, kMaxKeptOutput);
  log::info(
      "the run {} survives a lost connection ({}; up to {} of each output stream are kept); to "
      "continue it: {}",
      link_.run(),
      command.timeout_seconds
          ? fmt::format("until its {} s time limit", *command.timeout_seconds)
          : fmt::format("without --timeout it is stopped after {} h without a connection",
                        kAloneHours),
      human_bytes(output_bytes), hint_);
  link_.with_reconnect([&] { start(command, output_bytes, before); });
  link_.set_outlook("The run continues there; to reconnect: " + hint_);
}

SurvivingProgram::SurvivingProgram(BoardLink& link, bool stdout_to_stderr, std::string hint)
    : link_(link),
      hint_(std::move(hint)),
      token_(random_name()),
      out_{stdout_to_stderr ? STDERR_FILENO : STDOUT_FILENO},
      err_{STDERR_FILENO} {
  link_.set_outlook("The run continues there, or its results are kept; to reconnect: " + hint_);
  link_.with_reconnect([&] {
    link_.lease().send_line("present");
    const BoardAnswer answer = link_.shell().ask(kState, {folder()});
    for (const std::string_view line : split(answer.out, '\n')) {
      const auto words = split(line, ' ');
      if (words.size() < 3 || words[0] != "seen") continue;
      parse_u64(words[1], out_.bytes);
      parse_u64(words[2], err_.bytes);
    }
  });
}

SurvivingProgram::~SurvivingProgram() = default;

void SurvivingProgram::start(const RunCommand& command, std::uint64_t output_bytes,
                             const std::string& before) {
  BoardShell& shell = link_.shell();
  const double timeout_seconds = command.timeout_seconds.value_or(0);
  const long limit_seconds = std::lround(std::ceil(timeout_seconds));
  shell.change(kPrepare, {link_.run_folder(), fmt::format("{}", timeout_seconds)}, kKeeper);
  shell.change(kSave, {folder(), "note"}, command.note);
  shell.change(kSave, {folder(), "before"}, before);
  const auto window = std::lround(std::ceil(link_.reconnect_seconds())) + kBeyondReconnectSeconds;
  std::vector<std::string> arguments = {
      kStartKeeper,
      link_.info().folder,
      link_.run(),
      std::to_string(window),
      std::to_string(limit_seconds),
      std::to_string(limit_seconds > 0 ? limit_seconds + 60 : long{kAloneHours} * 3600),
      std::to_string(output_bytes / kFileLimitBlock),
      own_name()};
  add_application(arguments, command);
  std::string said;
  const auto listen = [&](std::string_view bytes) {
    if (said.size() < kMaxKeeperAnswer) said.append(bytes.substr(0, 1 << 12));
  };
  const auto keeper = shell.start(kStartInSession, arguments, listen, listen);
  const auto limit = Clock::now() + kKeeperLimit;
  // If the run already has a keeper, a second one answers and ends at once.
  for (bool has_ended = false; said.find(kKeeperWord) == std::string::npos;) {
    if (has_ended || Clock::now() > limit) {
      throw Error(Exit::cannot_write,
                  fmt::format("{}: the run's keeper script does not start: {}", link_.name(),
                              said.empty() ? "no answer" : printable(trim(said))));
    }
    has_ended = keeper->wait(kFollowStep).has_value();
  }
  link_.lease().send_line("present");
}

// Ignores a reader that is gone: the application continues.
void SurvivingProgram::show(Stream& stream, std::string_view bytes) {
  write_all(stream.fd, bytes);
  stream.bytes += bytes.size();
}

void SurvivingProgram::follow() {
  command_ = link_.shell().start(
      kFollow, {folder(), std::to_string(out_.bytes + 1), std::to_string(err_.bytes + 1)},
      [this](std::string_view bytes) { show(out_, bytes); },
      [this](std::string_view bytes) { show(err_, bytes); });
}

// Records the position at which another msprof can continue.
void SurvivingProgram::tell_seen() {
  const std::uint64_t seen = out_.bytes + err_.bytes;
  if (seen == told_bytes_ || Clock::now() < tell_at_) return;
  link_.lease().send_line(fmt::format("seen {} {}", out_.bytes, err_.bytes));
  told_bytes_ = seen;
  tell_at_ = Clock::now() + kSeenInterval;
}

void SurvivingProgram::leave_if_hung_up() const {
  if (interrupt::received() != SIGHUP) return;
  throw Error(Exit::interrupted, fmt::format("the terminal was closed; the run continues on {}: {}",
                                             link_.name(), hint_));
}

std::optional<ProgramEnd> SurvivingProgram::wait(milliseconds limit) {
  if (is_finished_) return end_;
  leave_if_hung_up();
  try {
    if (!command_) follow();
    const auto until = Clock::now() + limit;
    do {
      if (command_->wait(std::min(limit, kFollowStep))) {
        command_.reset();
        if (finish()) return end_;
        return std::nullopt;
      }
      tell_seen();
    } while (Clock::now() < until);
  } catch (const ConnectionLost& error) {
    log::warn("{}", error.what());
    recover();
  }
  return std::nullopt;
}

void SurvivingProgram::recover() {
  command_.reset();
  link_.recover();
  link_.lease().send_line("present");
}

void SurvivingProgram::signal(int number) {
  if (is_finished_) return;
  leave_if_hung_up();
  const char* const name = ::sigabbrev_np(number);
  const auto send = [&] {
    link_.shell().ask(kSignalMarked, {link_.run(), name != nullptr ? name : "TERM", "0"});
  };
  try {
    send();
  } catch (const ConnectionLost& error) {
    log::warn("{}", error.what());
    recover();
    send();
  }
}

void SurvivingProgram::show_rest(Stream& stream, const char* name) {
  std::uint64_t rest = 0;
  link_.shell().stream(
      kRest, {folder(), name, std::to_string(stream.bytes + 1)}, {}, [&](std::string_view bytes) {
        rest += bytes.size();
        // A working keeper cuts the stream before this size.
        if (rest > 2 * kMaxKeptOutput) {
          throw TooMuchSent(
              fmt::format("{}: the application's output does not end; it is in {}/{} there",
                          link_.name(), folder(), name));
        }
        show(stream, bytes);
      });
}

void SurvivingProgram::end_orphans() {
  constexpr const char* kPatienceSeconds = "5";
  link_.shell().ask(kSignalMarked, {link_.run(), "TERM", kPatienceSeconds});
  link_.shell().ask(kSignalMarked, {link_.run(), "KILL", "1"});
}

void SurvivingProgram::take_end(std::string_view line) {
  const auto words = split(line, ' ');
  std::uint64_t code = 255;
  std::uint64_t seconds = 0;
  if (words.size() < 5 || !parse_u64(words[1], code) || code > 255) return;
  parse_u64(words[2], end_.left_over);
  parse_u64(words[3], seconds);
  end_.seconds = static_cast<double>(seconds);
  end_.signal = to_signal(static_cast<int>(code));
  if (end_.signal == 0) end_.exit_code = static_cast<int>(code);
  end_.has_timed_out = words[4] == "limit";
  if (words[4] == "alone") end_.cut = fmt::format("no connection for {} h", kAloneHours);
}

bool SurvivingProgram::finish() {
  end_ = ProgramEnd();
  const BoardAnswer answer = link_.shell().ask(kState, {folder()});
  bool has_ended = false;
  bool has_keeper = false;
  bool no_exec = false;
  std::string failed;
  std::string cut;
  for (const std::string_view line : split(answer.out, '\n')) {
    if (line.starts_with("end ")) {
      take_end(line);
      has_ended = true;
    }
    if (line.starts_with("failed ")) failed = printable(line.substr(7));
    if (line == "runs") has_keeper = true;
    if (line == "noexec") no_exec = true;
    if (line.starts_with("cut ")) cut += (cut.empty() ? "" : " and ") + printable(line.substr(4));
  }
  if (has_keeper && !has_ended) return false;  // only the follow script has ended, not the run
  show_rest(out_, "out");
  show_rest(err_, "err");
  if (!cut.empty()) {
    log::warn(
        "{} keeps a limited part of the application's output: the rest of its std{} is missing",
        link_.name(), cut);
  }
  if (!failed.empty()) end_.start_error = failed;
  if (no_exec && end_.exit_code) {
    end_.start_error = *end_.exit_code == 127
                           ? "the interpreter or loader it needs is not on the board"
                           : "it is not built for the board";
  }
  if (has_ended && !link_.lease().take(token_)) {
    throw Error(Exit::board_unreachable,
                fmt::format("{}: the results of {} were fetched or moved to kept/ in the meantime; "
                            "if they are kept there, this fetches them: {}",
                            link_.name(), link_.run(), hint_));
  }
  if (!has_ended) {
    end_orphans();
    end_.cut = "the board was restarted, or its processes were killed";
  }
  link_.set_outlook("The results of the run are kept there; to fetch them: " + hint_);
  is_finished_ = true;
  return true;
}

}  // namespace msprof
