#include "board/session/link.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>

#include "base/host_name.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/random_name.hpp"
#include "base/text.hpp"
#include "base/time_text.hpp"

namespace msprof {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLockLimit{60};
constexpr std::chrono::seconds kReleaseLimit{10};
constexpr std::chrono::seconds kRemovalLimit{120};  // used if the folder of the run is removed, too
constexpr std::chrono::milliseconds kPollInterval{100};
// Limits for the first steps; if exceeded, the steps are run again.
constexpr std::chrono::seconds kFirstLimit{60};
constexpr std::size_t kMaxFirstBytes = kMaxListingBytes;
constexpr std::size_t kMaxSaid = 1 << 20;  // limit for other output

constexpr std::string_view kLocked = "locked ";  // followed by the pid of the script

// Arguments: $1 board_dir, $2 run, $3 seconds to wait for a lost connection, $4 "1": take
// over the lock, $5 name of the caller, then arguments for the sh that runs once the lock is held.
// lock/owner contains: pid, its start time in ticks since boot, run, state ("held", "lost" during
// the wait for a reconnect, "survives" for a run with its own keeper), user and start time. Also
// cleans up $old of earlier versions, and reuses its copies of projects.
const BoardScript kHoldLock = {"taking the board's lock",
                               std::string(kFindFolder) + kMarkedFunction + kEndFunctions +
                                   kLockFunctions + kUnmountFunction + kKeepFunctions + R"sh(
run=$2 window=$3 force=$4 me=$5
umask 077
trap "" HUP PIPE
mkdir -p "$ours" && cd "$ours" || exit 71
own() { look && [ "$pid" = $$ ]; }
refuse_if_held() {
  [ "$force" != 1 ] && alive "$pid" "$start" || return 0
  up_now
  echo "busy $pid $holder ${state:-held} ${who:-?} $((up - ${since:-$up}))"
  exit 0
}
put_away() {
  for left in runs/*; do
    left=${left#runs/}
    [ "$left" = "*" ] || [ "$left" = "$run" ] || [ -n "$(marked "$left")" ] || keep_recording "$left"
  done
}
if cd "$old" 2>/dev/null; then look; refuse_if_held; cd "$ours"; fi
tries=0
new=1
until mkdir lock 2>/dev/null; do
  [ -d lock ] || { mkdir lock; exit 71; }
  tries=$((tries + 1))
  [ $tries -le 5 ] || exit 72
  look
  # Whoever holds it signs it at once.
  [ -n "$pid" ] || [ $tries -gt 2 ] || { sleep 1; continue; }
  [ "$holder" != "$run" ] || { new=0; break; }
  refuse_if_held
  mv lock "lock.$$" && rm -rf "lock.$$"
done
kept_by_keeper() { [ "$state" = survives ] && alive "$pid" "$start"; }
[ $new = 0 ] && kept_by_keeper || sign held || exit 71
if [ $new = 1 ]; then
  put_away
  if cd "$old" 2>/dev/null; then
    look
    alive "$pid" "$start" || {
      rm -rf lock
      put_away
      [ -e "$ours/cache" ] || mv cache "$ours"
      rmdir runs kept "$old"
    } 2>/dev/null
    cd "$ours"
  fi
fi
echo "locked $$"
if [ $# -gt 5 ]; then
  shift 5
  sh "$@" </dev/null
fi
speak() {
  trap 'kill $!; exit 0' TERM
  while :; do
    sleep 10 >/dev/null &
    wait $!
    echo here || exit 0
  done
}
# Only by having something to say does a board find out that nobody is there any more.
speak 2>/dev/null &
voice=$!
s=runs/$run/survive
while read -r word rest; do
  case $word in
    bye)
      code=0
      [ -z "$rest" ] || drop "$rest" >/dev/null || code=1
      kill $voice
      own && rm -rf lock
      exit $code ;;
    present) echo "$$ $(start_of $$) $me" > "$s/present" ;;
    seen) echo "$rest" > "$s/seen" ;;
    take)
      if mkdir "$s/closing" 2>/dev/null && echo "$rest" > "$s/closing/by" ||
        grep -qx "$rest" "$s/closing/by" 2>/dev/null
      then
        sign held && echo taken
      else
        echo late
      fi ;;
  esac
done 2>/dev/null
kill $voice
exec >/dev/null 2>&1
read -r first rest < "$s/present" && [ "$first" = $$ ] && rm -f "$s/present"
read -r first second rest < "$s/pid" && alive "$first" "$second" && [ ! -d "$s/closing" ] && exit 0
own && sign lost
free=0
while [ "$window" -gt 0 ]; do
  look
  # A new keeper of this run: it is back. None, and no folder: it was, and has ended. Another run, or
  # one that came and went between two looks: this one has no board to come back to.
  [ "$pid" = $$ ] || [ "$holder" != "$run" ] || exit 0
  [ -n "$holder" ] || [ -d "runs/$run" ] || exit 0
  [ -z "$holder" ] || [ "$holder" = "$run" ] || break
  [ -z "$holder" ] || free=-1
  free=$((free + 1))
  [ $free -le 3 ] || break
  sleep 1
  window=$((window - 1))
done
end_run "$run"
look
[ "$pid" = $$ ] || [ "$holder" != "$run" ] || exit 0
keep_recording "$run"
! own || rm -rf lock
)sh"};

// Formats an age in seconds as " since 2026-11-23 17:02:11 UTC+8 (90 s ago)".
std::string since_text(std::uint64_t age_seconds) {
  constexpr std::uint64_t kMaxAge = 10'000'000'000;
  const auto age = static_cast<std::int64_t>(std::min(age_seconds, kMaxAge));
  const std::int64_t began = std::max<std::int64_t>(0, std::time(nullptr) - age);
  return fmt::format(" since {} ({} s ago)", local_time_text(began * 1'000'000'000), age);
}

std::string busy_sentence(const std::string& host, std::string_view line) {
  const auto parts = split(line, ' ');
  const std::string holder = parts.size() > 2 ? printable(parts[2]) : "?";
  const std::string_view state = parts.size() > 3 ? parts[3] : "";
  std::string whose;
  if (parts.size() > 5 && parts[4] != "?") whose = fmt::format(" of {}", printable(parts[4]));
  std::uint64_t age = 0;
  std::string since;
  if (parts.size() > 5 && parse_u64(parts[5], age)) since = since_text(age);
  const std::string what = state == "lost" ? "has lost its connection and is about to be stopped"
                           : state == "survives" ? "is in progress and survives its connection"
                                                 : "is in progress";
  return fmt::format(
      "{} is busy: the profiled run {}{} (process {} there) {}{}; concurrent runs would distort "
      "each other's times. Wait for it to end, or take over the board with --force",
      host, holder, whose, parts.size() > 1 ? printable(parts[1]) : "?", what, since);
}

constexpr int kMaxFruitlessLosses = 3;

std::string new_run_name() {
  return fmt::format("{:%Y%m%d_%H%M%S}_{}", fmt::gmtime(std::time(nullptr)),
                     random_name().substr(0, 8));
}

}  // namespace

std::string own_name() {
  constexpr std::size_t kMaxNameBytes = 80;
  const char* user = std::getenv("USER");
  if (user == nullptr || *user == '\0') user = std::getenv("LOGNAME");
  if (user == nullptr || *user == '\0') {
    const passwd* const account = ::getpwuid(::getuid());
    user = account != nullptr ? account->pw_name : "?";
  }
  const std::string whole = std::string(user) + "@" + own_host_name();
  std::string name;
  for (const char c : whole.substr(0, kMaxNameBytes)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '@' || c == '.' || c == '-' || c == '_';
    name += plain ? c : '_';
  }
  return name;
}

// First searches all processes with one command: usually nothing matches, and a command for each
// process would be slow.
const char* const kMarkedFunction = R"sh(
marked() {
  cat /proc/[0-9]*/environ 2>/dev/null | tr "\000" "\012" | grep -qx "MSPROF_RUN=$1" || return 0
  for entry in /proc/[0-9]*; do
    case "
$(tr "\000" "\012" 2>/dev/null < "$entry/environ")
" in *"
MSPROF_RUN=$1
"*) echo "${entry#/proc/}" ;; esac
  done
}
)sh";

const char* const kEndFunctions = R"sh(
await_run() {
  patience=$2
  while [ "$patience" -gt 0 ] && [ -n "$(marked "$1")" ]; do
    sleep 1
    patience=$((patience - 1))
  done
}
end_run() {
  for process in $(marked "$1"); do kill -TERM "$process"; done
  await_run "$1" 5
  for process in $(marked "$1"); do kill -KILL "$process"; done
}
)sh";

const char* const kLockFunctions = R"sh(
start_of() {
  read -r stat 2>/dev/null < "/proc/$1/stat" || return 1
  stat=${stat##*") "}
  set -- $stat
  [ "$1" != Z ] && echo "${20}"
}
alive() { [ -n "$2" ] && [ "$(start_of "$1")" = "$2" ]; }
look() {
  pid= start= holder= state= who= since=
  read -r pid start holder state who since rest 2>/dev/null < lock/owner
}
)sh";

const char* const kKeepFunctions = R"sh(
up_now() { read -r up rest < /proc/uptime; up=${up%%.*}; }
sign() {
  look
  up_now
  case $since in ""|*[!0-9]*) since=$up ;; esac
  [ "$holder" = "$run" ] || since=$up
  echo "$$ $(start_of $$) $run $1 ${me:-?} $since" > "lock/owner.$$" &&
    mv "lock/owner.$$" lock/owner
}
keep_recording() {
  unmount "runs/$1" || return
  if read -r pid start 2>/dev/null < "runs/$1/drain.pid" && alive "$pid" "$start"; then
    kill "$pid"
  fi
  if [ -e "runs/$1/survive/begun" ]; then
    mkdir -p kept && mv "runs/$1" "kept/$1" && echo "kept $1"
    return
  fi
  set -- "$1" "runs/$1/profiling"/*
  if [ -e "$2" ]; then
    mkdir -p kept && mv "runs/$1/profiling" "kept/$1" && echo "kept $1" || return
  fi
  drop "$1"
}
drop() {
  unmount "runs/$1" || return
  find "runs/$1" -type d ! -perm -700 -exec chmod u+rwx {} \; 2>/dev/null
  rm -rf "runs/$1"
}
)sh";

// A process of the run may need a moment to close its files. After that, detaches the mount lazily.
const char* const kUnmountFunction = R"sh(
unmount() {
  [ -e "$1/mounted" ] || return 0
  attempts=0
  until umount "$1/profiling" 2>/dev/null; do
    grep -q "/runs/${1##*/}/profiling " /proc/mounts || break
    attempts=$((attempts + 1))
    [ $attempts -lt 5 ] || break
    sleep 1
  done
  if grep -q "/runs/${1##*/}/profiling " /proc/mounts && ! umount -l "$1/profiling"; then
    echo "$1/profiling is still mounted; nothing was removed" >&2
    return 1
  fi
  rm -f "$1/mounted"
}
)sh";

BoardLease::BoardLease(BoardShell& shell, const std::string& board_dir, const std::string& run,
                       double reconnect_seconds, bool force, const std::vector<BoardStep>& first)
    : host_(shell.login().name()) {
  const auto window = std::lround(std::ceil(reconnect_seconds)) + kBeyondReconnectSeconds;
  std::vector<std::string> arguments = {board_dir, run, std::to_string(window), force ? "1" : "0",
                                        own_name()};
  if (!first.empty()) {
    const std::string word = random_end_word();
    StepPack pack(word);
    std::vector<std::string> with_first = arguments;
    const bool is_whole = std::all_of(first.begin(), first.end(),
                                      [&](const BoardStep& step) { return pack.add(step); });
    with_first.insert(with_first.end(), {"-c", std::string(pack.script().text), "msprof"});
    with_first.insert(with_first.end(), pack.parameters().begin(), pack.parameters().end());
    if (is_whole && fits_into_command(kHoldLock, with_first)) {
      arguments = std::move(with_first);
      first_ = first;
      first_answers_.emplace(word);
    }
  }
  command_ = shell.start(
      kHoldLock, arguments, [this](std::string_view bytes) { take_output(bytes); },
      [this](std::string_view bytes) {
        errors_ = bytes.substr(0, 1 << 12);
        if (first_answers_) first_answers_->add_err(bytes);
      });
}

BoardLease::~BoardLease() = default;

// Output after the "lock held" line belongs to the first steps.
void BoardLease::take_output(std::string_view bytes) {
  if (is_held_ && first_answers_) {
    // Drops output beyond the limit; take_first_answers() then gives up.
    if (first_answers_->waiting_bytes() <= kMaxFirstBytes) first_answers_->add_out(bytes);
    return;
  }
  if (answer_.size() < kMaxSaid) answer_.append(bytes);
  if (is_held_) return;
  const auto at = answer_.starts_with(kLocked) ? 0 : answer_.find("\n" + std::string(kLocked));
  const auto end = at == std::string::npos ? at : answer_.find('\n', at + 1);
  if (end == std::string::npos) return;
  is_held_ = true;
  const std::string rest = answer_.substr(end + 1);
  answer_.erase(end + 1);
  if (first_answers_) first_answers_->add_out(rest);
}

void BoardLease::await() {
  const auto limit = Clock::now() + kLockLimit;
  std::optional<CommandEnd> end;
  for (;;) {
    // The answer may have arrived during another wait.
    if (!is_held_) end = command_->wait(kPollInterval);
    for (const std::string_view line : split(answer_, '\n')) {
      if (line.starts_with("busy ")) {
        throw Error(Exit::board_unreachable, busy_sentence(host_, line));
      }
    }
    if (is_held_) {
      for (const std::string_view said : split(answer_, '\n')) {
        if (!said.starts_with("kept ")) continue;
        log::info(
            "the results of an earlier run on {0} were not fetched; they are in kept/{1} there "
            "(collect --fetch {1} fetches them)",
            host_, printable(said.substr(5)));
      }
      answer_.clear();
      return;
    }
    interrupt::check();
    if (end || Clock::now() > limit) {
      throw Error(Exit::cannot_write,
                  fmt::format("{}: cannot take the board's lock: {}", host_,
                              errors_.empty() ? "no answer" : printable(trim(errors_))));
    }
  }
}

std::vector<BoardAnswer> BoardLease::take_first_answers() {
  std::vector<BoardAnswer> answers;
  auto moved = Clock::now();
  std::size_t waiting = 0;
  try {
    while (first_answers_ && answers.size() < first_.size()) {
      if (first_answers_->has_next()) {
        answers.push_back(first_answers_->take());
        if (!answers.back().has_succeeded() && !first_[answers.size() - 1].may_fail) break;
        continue;
      }
      const std::size_t now = first_answers_->waiting_bytes();
      if (now != waiting) moved = Clock::now();
      waiting = now;
      const bool is_lost = now > kMaxFirstBytes || Clock::now() - moved > kFirstLimit;
      if (is_lost || command_->wait(kPollInterval)) break;
    }
  } catch (const ConnectionLost& error) {
    log::verbose("{}", error.what());  // the next command meets it, too
  }
  first_answers_.reset();
  return answers;
}

void BoardLease::send_line(std::string_view line) {
  const std::string words = std::string(line) + "\n";
  const auto limit = Clock::now() + kReleaseLimit;
  std::string_view rest = words;
  while (!rest.empty() && Clock::now() < limit) {
    const std::size_t taken = command_->write(rest);
    rest.remove_prefix(taken);
    if (taken == 0 && command_->wait(kPollInterval)) return;
  }
}

bool BoardLease::take(const std::string& token) {
  answer_.clear();
  send_line("take " + token);
  const auto limit = Clock::now() + kLockLimit;
  while (Clock::now() < limit) {
    const auto end = command_->wait(kPollInterval);
    for (const std::string_view line : split(answer_, '\n')) {
      if (line == "taken" || line == "late") return line == "taken";
    }
    if (end) break;
  }
  throw ConnectionLost("the board's lock script does not answer");
}

bool BoardLease::release(const std::string& run) {
  if (!command_) return false;
  send_line(run.empty() ? "bye" : "bye " + run);
  const auto limit = Clock::now() + (run.empty() ? kReleaseLimit : kRemovalLimit);
  auto end = command_->wait(kPollInterval);
  while (!end && Clock::now() < limit) end = command_->wait(kPollInterval);
  command_.reset();
  return end && end->exit_code == 0;
}

BoardLink::BoardLink(const BoardConfig& config, double reconnect_seconds)
    : shell_(config.login),
      board_dir_(config.board_dir),
      reconnect_seconds_(reconnect_seconds),
      run_(new_run_name()) {}

BoardLease& BoardLink::lease() {
  if (!lease_) throw ConnectionLost(fmt::format("{}: not connected", name()));
  return *lease_;
}

void BoardLink::open(bool force, const std::vector<BoardStep>& first) {
  shell_.connect();
  question_ = std::make_unique<InfoQuestion>(shell_, board_dir_);
  const auto ask_for_lock = [&] {
    lease_ =
        std::make_unique<BoardLease>(shell_, board_dir_, run_, reconnect_seconds_, force, first);
  };
  try {
    const bool at_once = shell_.connection().runs_side_by_side();
    if (at_once) ask_for_lock();
    info_ = question_->facts();
    if (!at_once || first.empty()) complete_facts();
    if (!at_once) ask_for_lock();
    try {
      lease_->await();
    } catch (const Error&) {
      complete_facts();
      throw;
    }
  } catch (const Error&) {
    // The board may have granted the lock meanwhile: release it.
    close();
    throw;
  }
}

void BoardLink::connect() {
  shell_.connect();
  question_ = std::make_unique<InfoQuestion>(shell_, board_dir_);
  info_ = question_->facts();
  complete_facts();
}

void BoardLink::complete_facts() {
  if (!question_) return;
  question_->find_sftp(info_);
  question_.reset();
  log::info("{}: {}", name(), info_.in_one_line());
  log::verbose("logged in with {}", shell_.connection().login_method());
}

void BoardLink::resume(const std::string& run, const std::string& folder) {
  run_ = run;
  if (folder.empty() || folder == info_.folder) return;
  info_.folder = folder;
  board_dir_ = folder;
}

void BoardLink::lock(bool force) {
  auto lease = std::make_unique<BoardLease>(shell_, board_dir_, run_, reconnect_seconds_, force);
  lease->await();
  lease_ = std::move(lease);
}

void BoardLink::recover() {
  const interrupt::MaskPendingSignal masked;
  ++recoveries_;
  lease_.reset();
  if (question_) question_->reconnected();
  log::info("trying to reconnect to {} for at most {} s", name(), reconnect_seconds_);
  const std::string outlook =
      !outlook_.empty()
          ? outlook_
          : fmt::format("The board stops the run by itself; its recording is then in {} there",
                        kept_folder());
  bool is_back = false;
  try {
    is_back = shell_.reconnect(reconnect_seconds_);
  } catch (const ConnectFailure& failure) {
    throw ConnectFailure(
        failure.why(),
        fmt::format("the connection to {} was lost and could not be restored: {}. {}", name(),
                    failure.what(), outlook));
  }
  if (!is_back) {
    throw ConnectionLost(
        fmt::format("the connection to {} was lost and could not be restored within {} s "
                    "(--reconnect S waits longer). {}",
                    name(), reconnect_seconds_, outlook));
  }
  lock(false);
  log::info("reconnected to {}", name());
}

void BoardLink::with_reconnect(const std::function<void()>& work,
                               const std::function<std::uint64_t()>& progress) {
  std::uint64_t before = progress ? progress() : 0;
  int fruitless = 0;
  for (;;) {
    try {
      work();
      return;
    } catch (const ConnectionLost& error) {
      const std::uint64_t now = progress ? progress() : 0;
      fruitless = now > before ? 0 : fruitless + 1;
      before = now;
      if (fruitless >= kMaxFruitlessLosses || !lease_) throw;
      log::warn("{}", error.what());
      recover();
    }
  }
}

bool BoardLink::release(const std::string& run) {
  return lease_ && lease_->release(run);
}

void BoardLink::close() {
  try {
    if (lease_ && shell_.is_connected()) lease_->release();
  } catch (const std::exception& error) {
    log::verbose("{}", error.what());
  }
  lease_.reset();
  question_.reset();
  shell_.disconnect();
}

}  // namespace msprof
