#include "board/shell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <thread>

#include "base/log.hpp"
#include "base/text.hpp"
#include "board/steps.hpp"

namespace msprof {

namespace {

using Clock = std::chrono::steady_clock;

// First line of a script's output; a greeting of the login shell comes before it.
constexpr std::string_view kBegin = "@msprof-begin@";
constexpr std::size_t kMaxGreeting = 64 << 10;
constexpr std::size_t kMaxCommand = 8'900;  // dropbear's MAX_CMD_LEN is 9,000
constexpr std::chrono::milliseconds kBetweenTries{500};

// Passes on what comes behind the first line of the script.
class GreetingFilter {
 public:
  explicit GreetingFilter(StreamSink sink) : sink_(std::move(sink)) {}

  void operator()(std::string_view bytes) {
    if (begun_) {
      sink_(bytes);
      return;
    }
    held_.append(bytes);
    // A terminal ends the line with "\r\n".
    const auto at = held_.find(kBegin);
    const auto end = at == std::string::npos ? at : held_.find('\n', at);
    if (end == std::string::npos) {
      if (held_.size() > kMaxGreeting) {
        throw Error(Exit::board_unreachable,
                    "the board's login shell keeps printing and does not run the command");
      }
      return;
    }
    begun_ = true;
    const std::string rest = held_.substr(end + 1);
    held_.clear();
    if (!rest.empty()) sink_(rest);
  }

 private:
  StreamSink sink_;
  std::string held_;
  bool begun_ = false;
};

void keep_tail(std::string& tail, std::string_view bytes) {
  tail.append(bytes);
  if (tail.size() > kMaxErrorText) tail.erase(0, tail.size() - kMaxErrorText);
}

std::string line_of(const BoardScript& script, const std::vector<std::string>& arguments) {
  std::string line = "exec sh -c ";
  line += shell_quoted(fmt::format("echo {}\n{}", kBegin, script.text));
  line += " msprof";
  for (const std::string& argument : arguments) {
    line += ' ';
    line += shell_quoted(argument);
  }
  return line;
}

}  // namespace

std::string BoardAnswer::reason() const {
  std::string text = printable(trim(err));
  if (!text.empty()) return text;
  if (!end.signal.empty()) return fmt::format("it was killed by SIG{}", end.signal);
  if (end.exit_code) return fmt::format("it ended with code {}", *end.exit_code);
  return "it ended without a message";
}

std::string copy_command(const SshLogin& login, const std::string& folder, bool has_sftp) {
  const std::string& host = login.shown_host();
  const bool is_ipv6 = host.find(':') != std::string::npos;
  // scp of today speaks SFTP; -O is its older way.
  return fmt::format("scp {}{}{}{}-r {} .", login.ssh_options, has_sftp ? "" : "-O ",
                     login.port == 22 ? "" : fmt::format("-P {} ", login.port),
                     login.key.empty() ? "" : fmt::format("-i {} ", shell_word(login.key.string())),
                     shell_word(fmt::format(fmt::runtime(is_ipv6 ? "{}@[{}]:{}" : "{}@{}:{}"),
                                            login.user, host, folder)));
}

bool fits_into_command(const BoardScript& script, const std::vector<std::string>& arguments) {
  return line_of(script, arguments).size() <= kMaxCommand;
}

std::string command_line(const BoardScript& script, const std::vector<std::string>& arguments) {
  std::string line = line_of(script, arguments);
  if (line.size() > kMaxCommand) {
    throw Error(Exit::usage,
                fmt::format("{}: the command has {} bytes, more than a board accepts ({}); use "
                            "shorter arguments, or put them into a file of the project",
                            script.name, line.size(), kMaxCommand));
  }
  return line;
}

std::string random_end_word() {
  std::random_device device;
  return fmt::format("@{:08x}{:08x}{:08x}{:08x}@", device(), device(), device(), device());
}

BoardShell::BoardShell(SshLogin login) : login_(std::move(login)) {}

SshConnection& BoardShell::connection() const {
  if (!connection_) throw ConnectionLost(fmt::format("{}: not connected", login_.name()));
  return *connection_;
}

void BoardShell::connect() {
  connection_ = SshConnection::open(login_);
}

void BoardShell::disconnect() {
  connection_.reset();
}

bool BoardShell::reconnect(double seconds) {
  connection_.reset();
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  for (;;) {
    try {
      connect();
      return true;
    } catch (const Error& error) {
      if (error.code() == Exit::interrupted) throw;
      log::verbose("{}", error.what());
    }
    if (Clock::now() + kBetweenTries >= end) return false;
    std::this_thread::sleep_for(kBetweenTries);
  }
}

std::unique_ptr<SshCommand> BoardShell::begin(const BoardScript& script,
                                              const std::vector<std::string>& arguments,
                                              StreamSink on_stdout, StreamSink on_stderr) {
  return connection().begin(command_line(script, arguments), GreetingFilter(std::move(on_stdout)),
                            std::move(on_stderr));
}

std::unique_ptr<SshCommand> BoardShell::start(const BoardScript& script,
                                              const std::vector<std::string>& arguments,
                                              StreamSink on_stdout, StreamSink on_stderr,
                                              const std::optional<SshTerminal>& terminal) {
  return connection().start(command_line(script, arguments), GreetingFilter(std::move(on_stdout)),
                            std::move(on_stderr), terminal);
}

BoardAnswer BoardShell::stream(const BoardScript& script, const std::vector<std::string>& arguments,
                               const Source& source, const StreamSink& sink) {
  BoardAnswer answer;
  CommandPump pump(*this, script, arguments, source, sink,
                   [&](std::string_view bytes) { keep_tail(answer.err, bytes); });
  for (;;) {
    if (const auto end = pump.turn()) {
      answer.end = *end;
      return answer;
    }
  }
}

StreamSink BoardShell::collector(const BoardScript& script, std::string& out) const {
  return [this, name = script.name, &out](std::string_view bytes) {
    if (out.size() + bytes.size() > kMaxAnswer) {
      throw Error(Exit::partial_data,
                  fmt::format("{}: {}: the board's answer is too long", login_.name(), name));
    }
    out.append(bytes);
  };
}

BoardAnswer BoardShell::ask(const BoardScript& script, const std::vector<std::string>& arguments,
                            std::string_view input) {
  std::string out;
  const auto give = [&](char* buffer, std::size_t size) {
    const std::size_t part = input.copy(buffer, size);
    input.remove_prefix(part);
    return part;
  };
  BoardAnswer answer =
      stream(script, arguments, input.empty() ? Source() : Source(give), collector(script, out));
  answer.out = std::move(out);
  return answer;
}

std::vector<BoardAnswer> BoardShell::ask_each(const std::vector<BoardStep>& steps,
                                              const Source& source) {
  const std::string word = random_end_word();
  std::vector<BoardAnswer> answers;
  bool goes_on = true;
  while (goes_on && answers.size() < steps.size()) {
    const std::size_t first = answers.size();
    StepsUnderWay some(*this, std::span(steps).subspan(first), word, source);
    if (some.count() == 0) {
      const BoardStep& step = steps[first];
      answers.push_back(ask(step.script, step.arguments, step.lines));
      goes_on = answers.back().ok() || step.may_fail;
      continue;
    }
    for (std::size_t i = 0; i < some.count() && goes_on; ++i) {
      answers.push_back(some.next());
      goes_on = answers.back().ok() || (answers.back().end.exit_code && steps[first + i].may_fail);
    }
    some.finish();
  }
  answers.resize(steps.size());
  return answers;
}

void BoardShell::require_ok(const BoardScript& script, const BoardAnswer& answer) const {
  if (answer.ok()) return;
  throw Error(Exit::cannot_write,
              fmt::format("{}: {}: {}", login_.name(), script.name, answer.reason()));
}

void BoardShell::change(const BoardScript& script, const std::vector<std::string>& arguments,
                        std::string_view input) {
  require_ok(script, ask(script, arguments, input));
}

}  // namespace msprof
