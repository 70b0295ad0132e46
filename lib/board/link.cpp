#include "board/link.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <ctime>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

using Clock = std::chrono::steady_clock;

// Longer than this side tries to reconnect, so that the board never ends a run that is being
// reconnected.
constexpr int kBeyondReconnectSeconds = 15;
constexpr std::chrono::seconds kLockLimit{60};
constexpr std::chrono::seconds kReleaseLimit{10};
constexpr std::chrono::milliseconds kPollInterval{100};

// $1 folder, $2 run, $3 seconds to wait for a lost connection, $4 "1": take the lock from others.
// lock/owner: pid, its start time in ticks since boot, run, and "lost" while it waits.
constexpr const char* kKeep = R"sh(
run=$2 window=$3 force=$4
umask 077
trap "" HUP PIPE
cd "$1" || exit 71
own() { look && [ "$pid" = $$ ]; }
sign() {
  echo "$$ $(start_of $$) $run $1" > "lock/owner.$$" && mv "lock/owner.$$" lock/owner
}
keep_recording() {
  unmount "runs/$1" || return
  if read -r pid start 2>/dev/null < "runs/$1/drain.pid" && alive "$pid" "$start"; then
    kill "$pid"
  fi
  set -- "$1" "runs/$1/profiling"/*
  if [ -e "$2" ]; then
    mkdir -p kept && mv "runs/$1/profiling" "kept/$1" && echo "kept $1"
  fi
  chmod -R u+rwX "runs/$1" 2>/dev/null
  rm -rf "runs/$1"
}
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
  if [ "$force" != 1 ] && alive "$pid" "$start"; then
    echo "busy $pid $holder $state"
    exit 0
  fi
  mv lock "lock.$$" && rm -rf "lock.$$"
done
sign || exit 71
if [ $new = 1 ]; then
  for old in runs/*; do
    old=${old#runs/}
    [ "$old" = "*" ] || [ "$old" = "$run" ] || [ -n "$(marked "$old")" ] || keep_recording "$old"
  done
fi
echo "locked $$"
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
while read -r word; do
  [ "$word" != bye ] || { kill $voice; own && rm -rf lock; exit 0; }
done
kill $voice
exec >/dev/null 2>&1
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
for process in $(marked "$run"); do kill -TERM "$process"; done
patience=5
while [ $patience -gt 0 ] && [ -n "$(marked "$run")" ]; do
  sleep 1
  patience=$((patience - 1))
done
for process in $(marked "$run"); do kill -KILL "$process"; done
look
[ "$pid" = $$ ] || [ "$holder" != "$run" ] || exit 0
keep_recording "$run"
! own || rm -rf lock
)sh";

const BoardScript& keep_script() {
  static const std::string text =
      std::string(kMarkedFunction) + kLockFunctions + kUnmountFunction + kKeep;
  static const BoardScript script = {"taking the board's lock", text};
  return script;
}

std::string busy_sentence(const std::string& host, std::string_view line) {
  const auto parts = split(line, ' ');
  const std::string holder = parts.size() > 2 ? printable(parts[2]) : "?";
  const bool lost = parts.size() > 3 && parts[3] == "lost";
  return fmt::format(
      "{} is busy: the profiled run {} (process {} there) {}; two at once would disturb each "
      "other's times. Wait for it to end, or take over the board with --force",
      host, holder, parts.size() > 1 ? printable(parts[1]) : "?",
      lost ? "has lost its connection and is about to be ended" : "is under way");
}

constexpr int kMaxFruitlessLosses = 3;

// Of several runs of this process, two may begin in one second.
std::string new_run_name() {
  static std::atomic<unsigned> counter{0};
  const unsigned number = ++counter;
  return fmt::format("{:%Y%m%d-%H%M%S}-{}{}", fmt::gmtime(std::time(nullptr)), ::getpid(),
                     number == 1 ? std::string() : fmt::format("-{}", number));
}

}  // namespace

// One search over all processes first: usually there is none, and a probe of each costs three more.
const char* const kMarkedFunction = R"sh(
marked() {
  cat /proc/[0-9]*/environ 2>/dev/null | tr "\000" "\012" | grep -qx "MSPROF_RUN=$1" || return 0
  for entry in /proc/[0-9]*; do
    tr "\000" "\012" 2>/dev/null < "$entry/environ" | grep -qx "MSPROF_RUN=$1" &&
      echo "${entry#/proc/}"
  done
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
look() { pid= start= holder= state=; read -r pid start holder state 2>/dev/null < lock/owner; }
)sh";

// A process of the run may need a moment to let go of its files; then the mount goes at once, and
// from the server when they do.
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

BoardLease::BoardLease(BoardShell& shell, const BoardInfo& info, const std::string& run,
                       double reconnect_seconds, bool force) {
  const auto window = std::lround(std::ceil(reconnect_seconds)) + kBeyondReconnectSeconds;
  command_ = shell.start(
      keep_script(), {info.folder, run, std::to_string(window), force ? "1" : "0"},
      [this](std::string_view bytes) { answer_.append(bytes.substr(0, 1 << 16)); },
      [this](std::string_view bytes) { errors_ = bytes.substr(0, 1 << 12); });
  wait_for_lock(shell.login().name());
}

BoardLease::~BoardLease() = default;

void BoardLease::wait_for_lock(const std::string& host) {
  const auto limit = Clock::now() + kLockLimit;
  for (;;) {
    const auto end = command_->wait(kPollInterval);
    for (const std::string_view line : split(answer_, '\n')) {
      if (line.starts_with("busy ")) {
        throw Error(Exit::board_unreachable, busy_sentence(host, line));
      }
      if (line.starts_with("locked ")) {
        for (const std::string_view said : split(answer_, '\n')) {
          if (!said.starts_with("kept ")) continue;
          log::info(
              "the results of an earlier run on {} were not fetched; they are in kept/{} there",
              host, printable(said.substr(5)));
        }
        answer_.clear();
        return;
      }
    }
    interrupt::check();
    if (end || Clock::now() > limit) {
      throw Error(Exit::cannot_write,
                  fmt::format("{}: cannot take the board's lock: {}", host,
                              errors_.empty() ? "no answer" : printable(trim(errors_))));
    }
  }
}

void BoardLease::release() {
  if (!command_) return;
  constexpr std::string_view kBye = "bye\n";
  const auto limit = Clock::now() + kReleaseLimit;
  std::string_view rest = kBye;
  while (!rest.empty() && Clock::now() < limit) {
    const std::size_t taken = command_->write(rest);
    rest.remove_prefix(taken);
    if (taken == 0) command_->wait(kPollInterval);
  }
  while (!command_->wait(kPollInterval) && Clock::now() < limit) {
  }
  command_.reset();
}

BoardLink::BoardLink(const BoardConfig& config, double reconnect_seconds)
    : shell_(config.login),
      board_dir_(config.board_dir),
      reconnect_seconds_(reconnect_seconds),
      run_(new_run_name()) {}

void BoardLink::open(bool force) {
  shell_.connect();
  info_ = probe_board(shell_, board_dir_);
  log::info("{}: {}", name(), info_.in_one_line());
  log::verbose("logged in with {}", shell_.connection().login_method());
  lease_ = std::make_unique<BoardLease>(shell_, info_, run_, reconnect_seconds_, force);
}

void BoardLink::recover() {
  const interrupt::MaskPendingSignal masked;
  lease_.reset();
  log::info("trying to reconnect to {} for at most {} s", name(), reconnect_seconds_);
  if (!shell_.reconnect(reconnect_seconds_)) {
    throw ConnectionLost(
        fmt::format("the connection to {} was lost, and the board could not be reached again "
                    "within {} s (--reconnect S waits longer). The board ends the run by itself; "
                    "what it recorded is then in {} there",
                    name(), reconnect_seconds_, kept_folder()));
  }
  lease_ = std::make_unique<BoardLease>(shell_, info_, run_, reconnect_seconds_, false);
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

void BoardLink::close() {
  try {
    if (lease_ && shell_.is_connected()) lease_->release();
  } catch (const std::exception& error) {
    log::verbose("{}", error.what());
  }
  lease_.reset();
  shell_.disconnect();
}

}  // namespace msprof
