#include "board/shell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

using Clock = std::chrono::steady_clock;

// First line of a script's output; a greeting of the login shell comes before it.
constexpr std::string_view kBegin = "@msprof-begin@";
constexpr std::size_t kMaxGreeting = 64 << 10;
constexpr std::size_t kMaxCommand = 8'900;  // dropbear's MAX_CMD_LEN is 9,000
constexpr std::size_t kMaxErrorText = 4 << 10;
// An answer is a listing at most; a board that never stops talking must not fill this machine.
constexpr std::size_t kMaxAnswer = 256 << 20;
constexpr std::size_t kChunk = 128 << 10;
constexpr std::chrono::milliseconds kPollInterval{100};
constexpr std::chrono::seconds kSilence{120};
constexpr std::chrono::seconds kFarewell{10};
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

// A command whose input breaks off: it has handled what it got, and is gone, before anything checks
// what it left.
void end_early(SshCommand& command) {
  const auto limit = Clock::now() + kFarewell;
  try {
    command.close_input();
    while (!command.wait(kPollInterval) && Clock::now() < limit && interrupt::count() < 2) {
    }
  } catch (const Error& error) {
    log::verbose("{}", error.what());
  }
}

void keep_tail(std::string& tail, std::string_view bytes) {
  tail.append(bytes);
  if (tail.size() > kMaxErrorText) tail.erase(0, tail.size() - kMaxErrorText);
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

std::string command_line(const BoardScript& script, const std::vector<std::string>& arguments) {
  std::string line = "exec sh -c ";
  line += shell_quoted(fmt::format("echo {}\n{}", kBegin, script.text));
  line += " msprof";
  for (const std::string& argument : arguments) {
    line += ' ';
    line += shell_quoted(argument);
  }
  if (line.size() > kMaxCommand) {
    throw Error(Exit::usage,
                fmt::format("{}: the command has {} bytes, more than a board accepts ({}); use "
                            "shorter arguments, or put them into a file of the project",
                            script.name, line.size(), kMaxCommand));
  }
  return line;
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
  auto moved = Clock::now();
  const auto command = start(
      script, arguments,
      [&](std::string_view bytes) {
        moved = Clock::now();
        if (sink) sink(bytes);
      },
      [&](std::string_view bytes) {
        moved = Clock::now();
        keep_tail(answer.err, bytes);
      });
  std::vector<char> buffer(source ? kChunk : 0);
  std::string_view waiting;
  bool open = static_cast<bool>(source);
  if (!open) command->close_input();
  for (;;) {
    if (open && waiting.empty()) {
      try {
        waiting = {buffer.data(), source(buffer.data(), buffer.size())};
      } catch (const Error&) {
        end_early(*command);
        throw;
      }
      if (waiting.empty()) {
        command->close_input();
        open = false;
      }
    }
    const std::size_t taken = waiting.empty() ? 0 : command->write(waiting);
    waiting.remove_prefix(taken);
    if (taken > 0) moved = Clock::now();
    // While the board takes bytes there is nothing to wait for.
    const auto limit = taken > 0 && open ? std::chrono::milliseconds(0) : kPollInterval;
    if (const auto end = command->wait(limit)) {
      answer.end = *end;
      return answer;
    }
    if (Clock::now() - moved > kSilence) {
      throw Error(Exit::board_unreachable,
                  fmt::format("{}: {} has made no progress for {} s", login_.name(), script.name,
                              kSilence.count()));
    }
  }
}

BoardAnswer BoardShell::ask(const BoardScript& script, const std::vector<std::string>& arguments,
                            std::string_view input) {
  std::string out;
  const auto collect = [&](std::string_view bytes) {
    if (out.size() + bytes.size() > kMaxAnswer) {
      throw Error(Exit::partial_data, fmt::format("{}: {}: the board's answer is too long",
                                                  login_.name(), script.name));
    }
    out.append(bytes);
  };
  const auto give = [&](char* buffer, std::size_t size) {
    const std::size_t part = input.copy(buffer, size);
    input.remove_prefix(part);
    return part;
  };
  BoardAnswer answer = stream(script, arguments, input.empty() ? Source() : Source(give), collect);
  answer.out = std::move(out);
  return answer;
}

void BoardShell::change(const BoardScript& script, const std::vector<std::string>& arguments,
                        std::string_view input) {
  const BoardAnswer answer = ask(script, arguments, input);
  if (answer.ok()) return;
  throw Error(Exit::cannot_write,
              fmt::format("{}: {}: {}", login_.name(), script.name, answer.reason()));
}

}  // namespace msprof
