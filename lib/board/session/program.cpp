#include "board/session/program.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/findings.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/read_write.hpp"
#include "base/text.hpp"
#include "board/session/server.hpp"

namespace msprof {

namespace {

// Globals because a signal handler reads them.
termios g_before = {};
volatile std::sig_atomic_t g_takes_keys = 0;

// Async-signal-safe. Does nothing if the shell is in the foreground again: the shell has set its
// own settings, and tcsetattr() would stop this process.
void put_back() {
  if (g_takes_keys == 0) return;
  if (::tcgetpgrp(STDIN_FILENO) == ::getpgrp()) ::tcsetattr(STDIN_FILENO, TCSANOW, &g_before);
  g_takes_keys = 0;
}

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::string_view kRunning = "@msprof-run@ ";
constexpr std::string_view kFailedWord = "@msprof-failed@";
constexpr std::string_view kFailed = "@msprof-failed@\n";  // entire stdout if the start failed
constexpr std::string_view kEndOfInput = "\x04\x04";       // Ctrl-D twice; the first ends a partial
                                                           // line
// Longest error message of the shell, including file names: on a terminal it precedes kFailed.
constexpr std::size_t kMaxComplaint = 10 << 10;
constexpr std::size_t kMaxFirstLine = 4 << 10;
constexpr std::size_t kMaxErrorsTail = 1 << 10;
constexpr std::size_t kInputChunk = 32 << 10;
constexpr milliseconds kDrain{300};
constexpr milliseconds kCloseLimit{3000};
constexpr milliseconds kStep{20};
constexpr int kPatienceSeconds = 5;

// Arguments: $1 run, $2 working folder, $3 program, $4 acl.json, $5 library folders, $6 Python
// folders, $7 number of "NAME=value" arguments that follow; the rest is for the application.
// Ignores HUP and PIPE so that the application can end in order if the connection is lost.
constexpr std::string_view kInner = R"sh(
run=$1 folder=$2 main=$3 acl=$4 libraries=$5 modules=$6 count=$7
shift 7
failed() { echo "@msprof-failed@"; echo "$1" >&2; exit 126; }
)sh";

// Follows kEnterApplication.
constexpr std::string_view kInnerRest = R"sh(
read -r stat < /proc/$$/stat
stat=${stat##*") "}
leads() { set -- $stat; [ "$3" = $$ ]; }
leads && group=$$ || group=0
trap "" HUP PIPE
trap "echo @msprof-failed@" EXIT
echo "@msprof-run@ $group"
exec "$main" "$@"
)sh";

// Arguments: $1 run, $2 process group or 0, $3 signal. Signals the group, and processes of the run
// outside it.
const BoardScript kSignal = {"stopping the application", std::string(kMarkedFunction) + R"sh(
[ "$2" = 0 ] || kill "-$3" "-$2" 2>/dev/null
group_of() {
  read -r stat 2>/dev/null < "/proc/$1/stat" || return
  stat=${stat##*") "}
  set -- $stat
  echo "$3"
}
for process in $(marked "$1"); do
  [ "$2" != 0 ] && [ "$(group_of "$process")" = "$2" ] || kill "-$3" "$process" 2>/dev/null
done
)sh"};

// Arguments: $1 run. Prints the number of processes that were killed.
const BoardScript kSweep = {"stopping processes left by the application",
                            std::string(kMarkedFunction) + kSweepFunction + R"sh(
sweep "$1"
echo "left $left"
)sh"};

// Arguments: $1 run, $2 seconds. Waits until the run has no process, at most that long.
const BoardScript kAwait = {"waiting for the application's end",
                            std::string(kMarkedFunction) + kEndFunctions + R"sh(
await_run "$1" "$2"
)sh"};

int signal_number(const std::string& name) {
  for (int number = 1; number < NSIG; ++number) {
    const char* known = ::sigabbrev_np(number);
    if (known != nullptr && name == known) return number;
  }
  return 0;
}

}  // namespace

// Uses setsid(1) only if needed: in a session leader it would fork and lose the exit code. On a
// terminal both servers start a session, and setsid(1) would detach from the terminal.
const BoardScript kStartInSession = {"starting the application", R"sh(
inner=$1
shift
read -r stat < /proc/$$/stat
stat=${stat##*") "}
leads() { set -- $stat; [ "$4" = $$ ]; }
[ -t 0 ] || leads || ! command -v setsid >/dev/null 2>&1 || exec setsid sh -c "$inner" msprof "$@"
exec sh -c "$inner" msprof "$@"
)sh"};

const char* const kEnterApplication = R"sh(
while [ "$count" -gt 0 ]; do
  export "$1"
  shift
  count=$((count - 1))
done
export MSPROF_RUN="$run"
[ -z "$acl" ] || export MSPROF_ACL_JSON="$acl"
[ -z "$libraries" ] ||
  export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
[ -z "$modules" ] || export PYTHONPATH="$modules${PYTHONPATH:+:$PYTHONPATH}"
cd "$folder" || failed "its working folder $folder is not there"
[ -f "$main" ] || failed "no such file: $main"
[ -x "$main" ] || failed "not executable: $main"
)sh";

const char* const kSweepFunction = R"sh(
sweep() {
  left=0
  tries=0
  while [ $tries -lt 5 ]; do
    found=$(marked "$1")
    [ -n "$found" ] || break
    for process in $found; do
      kill -KILL "$process" 2>/dev/null && [ $tries = 0 ] && left=$((left + 1))
    done
    tries=$((tries + 1))
  done
}
)sh";

bool may_read_input() {
  if (::isatty(STDIN_FILENO) == 0) return true;
  return ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
}

SshTerminal UserTerminal::probe_size() {
  SshTerminal terminal;
  if (const char* type = std::getenv("TERM"); type != nullptr && *type != '\0') {
    terminal.type = type;
  }
  for (const int fd : {STDOUT_FILENO, STDIN_FILENO, STDERR_FILENO}) {
    winsize size = {};
    if (::ioctl(fd, TIOCGWINSZ, &size) != 0) continue;
    if (size.ws_col > 0) terminal.columns = size.ws_col;
    if (size.ws_row > 0) terminal.rows = size.ws_row;
    break;
  }
  return terminal;
}

bool UserTerminal::has_changed() {
  const SshTerminal now = probe_size();
  const bool changed = now.columns != size_.columns || now.rows != size_.rows;
  size_ = now;
  return changed;
}

void UserTerminal::take_keys() {
  if (g_takes_keys != 0 || ::isatty(STDIN_FILENO) == 0 || !may_read_input()) return;
  if (::tcgetattr(STDIN_FILENO, &g_before) != 0) return;
  termios keys = g_before;
  keys.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IGNCR | ISTRIP | IXON | IXOFF);
  // Keeps ISIG for Ctrl-C, and OPOST for msprof's own messages.
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | IEXTEN | ECHO | ECHONL);
  keys.c_cc[VSUSP] = keys.c_cc[VQUIT] = _POSIX_VDISABLE;
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  g_takes_keys = 1;
  interrupt::before_exit(put_back);
  if (::tcsetattr(STDIN_FILENO, TCSANOW, &keys) != 0) restore();
}

void UserTerminal::restore() {
  put_back();
  interrupt::before_exit(nullptr);
}

void add_application(std::vector<std::string>& parameters, const RunCommand& command) {
  parameters.insert(
      parameters.end(),
      {command.working_folder.string(), command.main.string(), command.acl_json.string(),
       command.libraries, command.modules, std::to_string(command.environment.size())});
  parameters.insert(parameters.end(), command.environment.begin(), command.environment.end());
  parameters.insert(parameters.end(), command.arguments.begin(), command.arguments.end());
}

BoardProgram::BoardProgram(BoardLink& link, const RunCommand& command, bool runs_in_login_shell)
    : link_(link),
      stdout_fd_(command.sends_stdout_to_stderr ? STDERR_FILENO : STDOUT_FILENO),
      rewriter_(command.output_changes),
      input_buffer_(kInputChunk) {
  std::vector<std::string> arguments = {
      fmt::format("{}{}{}", kInner, kEnterApplication, kInnerRest), link_.run()};
  if (runs_in_login_shell) arguments.insert(arguments.begin(), std::string(kLoginShell));
  add_application(arguments, command);
  std::optional<SshTerminal> wanted;
  if (command.is_on_terminal) {
    terminal_ = std::make_unique<UserTerminal>();
    wanted = terminal_->size();
  }
  const auto on_stdout = [this](std::string_view bytes) { take_output(bytes); };
  const auto on_stderr = [this](std::string_view bytes) { take_errors(bytes); };
  try {
    command_ = link_.shell().start(kStartInSession, arguments, on_stdout, on_stderr, wanted);
  } catch (const ConnectionLost& error) {
    // The board may have started the application before the connection was lost: the next wait()
    // ends the application.
    log::warn("{}", error.what());
    terminal_.reset();
    return;
  }
  if (!terminal_ || command_->has_terminal()) return;
  terminal_.reset();
  log::warn(FindingId::no_board_terminal,
            "{} provides no terminal: stdout and stderr stay separate and appear only when the "
            "application flushes them (--no-tty does not request one)",
            link_.shell().login().name());
}

BoardProgram::~BoardProgram() {
  if (is_finished_) return;
  try {
    signal(SIGKILL);
    sweep();
  } catch (const std::exception& error) {
    log::verbose("{}", error.what());
  }
}

void BoardProgram::take_first_line(std::string_view bytes) {
  const auto end = bytes.find('\n');
  first_line_.append(bytes.substr(0, end));
  if (end == std::string_view::npos && first_line_.size() < kMaxFirstLine) return;
  has_started_ = first_line_.starts_with(kRunning);
  has_failed_ = !has_started_;
  std::uint64_t group = 0;
  if (has_started_ && parse_u64(trim(first_line_).substr(kRunning.size()), group) && group > 1) {
    group_ = std::to_string(group);
  }
  if (end != std::string_view::npos && end + 1 < bytes.size()) take_output(bytes.substr(end + 1));
}

void BoardProgram::take_output(std::string_view bytes) {
  if (has_started_ && terminal_) {
    show_until_failure(bytes);
  } else if (has_started_ && shown_bytes_ == 0 && bytes == kFailed) {
    has_failed_ = true;
  } else if (has_started_) {
    shown_bytes_ += bytes.size();
    show(bytes);
  } else if (!has_failed_) {
    take_first_line(bytes);
  } else {
    take_errors(bytes);  // on a terminal, stderr is part of stdout
  }
}

void BoardProgram::show_until_failure(std::string_view bytes) {
  if (has_failed_) return;
  held_.append(bytes);
  std::size_t size = held_.size();
  if (shown_bytes_ < kMaxComplaint) {
    const auto at = held_.find(kFailedWord);
    has_failed_ = at != std::string::npos;
    size = has_failed_ ? at : held_.size() - partial_match_at_end(held_, kFailedWord);
  }
  shown_bytes_ += size;
  show(std::string_view(held_).substr(0, size));
  held_.erase(0, size);
}

// Ignores a reader that is gone: the application continues.
void BoardProgram::show(std::string_view bytes) {
  write_all(stdout_fd_, rewriter_.take(bytes));
}

// Until the application has started, stderr contains the reason why it did not.
void BoardProgram::take_errors(std::string_view bytes) {
  if (has_started_) {
    write_all(STDERR_FILENO, bytes);
    return;
  }
  errors_tail_.append(bytes);
  if (errors_tail_.size() > kMaxErrorsTail) {
    errors_tail_.erase(0, errors_tail_.size() - kMaxErrorsTail);
  }
}

void BoardProgram::follow_terminal() {
  if (!terminal_) return;
  terminal_->take_keys();
  if (terminal_->has_changed()) command_->resize(terminal_->size());
}

void BoardProgram::read_input() {
  struct pollfd ready = {STDIN_FILENO, POLLIN, 0};
  if (!is_input_open_ || !may_read_input() || ::poll(&ready, 1, 0) <= 0) return;
  const ssize_t got = ::read(STDIN_FILENO, input_buffer_.data(), input_buffer_.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  is_input_open_ = got > 0;
  if (is_input_open_) {
    input_ = {input_buffer_.data(), static_cast<std::size_t>(got)};
    has_line_begun_ = input_.back() != '\n';
  } else if (terminal_) {
    // Closing a channel does not close its terminal, so this sends Ctrl-D.
    input_ = kEndOfInput.substr(has_line_begun_ ? 0 : 1);
  } else {
    command_->close_input();
  }
}

// Returns true if the board accepted bytes and may accept more.
bool BoardProgram::pass_input() {
  // On a terminal, input sent before the start would be echoed into the first line, which is
  // parsed.
  if (terminal_ && !has_started_) return false;
  follow_terminal();
  if (input_.empty()) read_input();
  const std::size_t taken = input_.empty() ? 0 : command_->write(input_);
  input_.remove_prefix(taken);
  return taken > 0;
}

std::optional<ProgramEnd> BoardProgram::wait(milliseconds limit) {
  if (is_finished_) return end_;
  if (!command_) {
    end_after_loss();
    return end_;
  }
  try {
    return wait_for_streams(limit);
  } catch (const ConnectionLost& error) {
    log::warn("{}", error.what());
    end_after_loss();
    return end_;
  }
}

std::optional<ProgramEnd> BoardProgram::wait_for_streams(milliseconds limit) {
  const auto until = Clock::now() + limit;
  do {
    // While standard input is being forwarded, do not wait.
    const bool has_moved = pass_input();
    const auto closed = command_->wait(has_moved ? milliseconds(0) : std::min(limit, kStep));
    // A background process of the application may keep its streams open indefinitely.
    const auto end = closed ? closed : command_->reported_end();
    if (end) {
      finish(*end);
      return end_;
    }
  } while (Clock::now() < until);
  return std::nullopt;
}

void BoardProgram::finish(const CommandEnd& end) {
  if (terminal_) terminal_->restore();
  const auto drained = Clock::now() + kDrain;
  while (Clock::now() < drained && !command_->wait(kStep)) {
  }
  show(has_failed_ ? std::string_view() : held_);
  write_all(stdout_fd_, rewriter_.end());
  held_.clear();
  end_.exit_code = end.exit_code;
  if (!end.signal.empty()) {
    end_.exit_code.reset();
    end_.signal = signal_number(end.signal);
  }
  if (!has_started_ || has_failed_) end_.start_error = why_not_started();
  sweep();
  const auto closed = Clock::now() + kCloseLimit;
  while (Clock::now() < closed && !command_->wait(kStep)) {
  }
  command_.reset();
  is_finished_ = true;
}

std::string BoardProgram::why_not_started() const {
  // Exit code of a shell if exec(2) fails; the file itself existed and was executable.
  if (has_started_ && end_.exit_code == 127) {
    return "the interpreter or loader it needs is not on the board";
  }
  if (has_started_) return "it is not built for the board";
  const std::string why = printable(trim(errors_tail_));
  return why.empty() ? "the board gave no reason" : why;
}

void BoardProgram::sweep() {
  std::vector<BoardStep> steps = {{.script = kSweep, .arguments = {link_.run()}}};
  steps.insert(steps.end(), end_steps_.begin(), end_steps_.end());
  auto answers = std::make_unique<StepsUnderWay>(link_.shell(), steps, random_end_word());
  const BoardAnswer answer = answers->next();
  std::uint64_t left = 0;
  const std::string_view said = trim(answer.out);
  if (said.starts_with("left ") && parse_u64(said.substr(5), left)) end_.left_over = left;
  if (take_end_) {
    take_end_(std::move(answers));
  } else {
    answers->finish();
  }
}

void BoardProgram::signal(int number) {
  if (is_finished_) return;
  const char* name = ::sigabbrev_np(number);
  try {
    link_.shell().ask(kSignal, {link_.run(), group_, name != nullptr ? name : "TERM"});
  } catch (const ConnectionLost&) {
    // The next wait() also detects the loss, and ends the application over a new connection.
    log::verbose("the connection was lost while stopping {}", link_.run());
  }
}

// Loses the exit code unless it was already reported; the recording is not affected.
void BoardProgram::end_after_loss() {
  if (terminal_) terminal_->restore();
  const auto reported = command_ ? command_->reported_end() : std::nullopt;
  command_.reset();
  link_.recover();
  end_.is_connection_lost = !reported;
  if (reported) end_.exit_code = reported->exit_code;
  if (reported && !reported->signal.empty()) end_.signal = signal_number(reported->signal);
  const auto end = [&] {
    link_.shell().ask(kSignal, {link_.run(), group_, "TERM"});
    link_.shell().ask(kAwait, {link_.run(), std::to_string(kPatienceSeconds)});
    sweep();
  };
  try {
    end();
  } catch (const ConnectionLost& error) {
    // Retries once: the new connection may be lost, too.
    log::warn("{}", error.what());
    link_.recover();
    end();
  }
  end_.left_over = 0;
  is_finished_ = true;
}

}  // namespace msprof
