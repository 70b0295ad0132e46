#include "board/session/shell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>

#include "base/log.hpp"
#include "base/random_name.hpp"
#include "base/text.hpp"
#include "board/session/steps.hpp"
#include "ssh/run_hosts.hpp"

namespace msprof {

namespace {

using Clock = std::chrono::steady_clock;

// First line of a script's output; a greeting of the login shell may precede it.
constexpr std::string_view kBegin = "@msprof-begin@";
constexpr std::size_t kMaxGreeting = 64 << 10;
constexpr std::size_t kMaxCommand = 8'900;  // dropbear's MAX_CMD_LEN is 9,000
constexpr std::chrono::milliseconds kBetweenTries{500};

// Forwards only the output after the script's first line.
class GreetingFilter {
 public:
  // `held` receives the output before that first line; it is cleared once the line has arrived.
  GreetingFilter(StreamSink sink, std::shared_ptr<std::string> held)
      : sink_(std::move(sink)), held_(std::move(held)) {}

  void operator()(std::string_view bytes) {
    if (has_begun_) {
      sink_(bytes);
      return;
    }
    held_->append(bytes);
    // A terminal ends the line with "\r\n".
    const auto at = held_->find(kBegin);
    const auto end = at == std::string::npos ? at : held_->find('\n', at);
    if (end == std::string::npos) {
      if (held_->size() > kMaxGreeting) {
        throw Error(Exit::board_unreachable,
                    "the board's login shell keeps printing and does not run the command");
      }
      return;
    }
    has_begun_ = true;
    const std::string rest = held_->substr(end + 1);
    held_->clear();
    if (!rest.empty()) sink_(rest);
  }

 private:
  StreamSink sink_;
  std::shared_ptr<std::string> held_;
  bool has_begun_ = false;
};

void keep_tail(std::string& tail, std::string_view bytes) {
  tail.append(bytes);
  if (tail.size() > kMaxErrorText) tail.erase(0, tail.size() - kMaxErrorText);
}

// Characters that a login shell may not preserve within single quotes: sh ends the quotes at a
// quote, csh fails at a line break and replaces "!", fish reads backslashes. Each is replaced by an
// unused control character; another one marks the end of each argument.
constexpr std::string_view kReplaced = "\n'!\\";
constexpr std::size_t kMaxWord = 1'000;  // BSD's csh accepts words of 1,020 bytes

// Returns control characters that occur in no element of `words`: one for each character in
// kReplaced and one more.
std::string unused_characters(const std::vector<std::string>& words) {
  constexpr std::string_view kChoice =
      "\x1f\x1e\x1d\x1c\x1a\x19\x18\x17\x16\x15\x14\x13\x12\x11\x10\x0f\x0e\b\a\x06\x05\x04\x03"
      "\x02";
  std::string unused;
  for (const char c : kChoice) {
    const bool is_used = std::any_of(words.begin(), words.end(), [c](const std::string& word) {
      return word.find(c) != std::string::npos;
    });
    if (!is_used) unused += c;
    if (unused.size() > kReplaced.size()) return unused;
  }
  throw Error(Exit::usage,
              "the arguments contain almost every control character; put them into a file of the "
              "project");
}

// Any login shell only starts sh, which restores the characters: it splits the text at each
// placeholder by IFS and joins it with the character. This needs no other tool.
std::string login_shell_line(const BoardScript& script, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {fmt::format("echo {}\n{}", kBegin, script.text), "msprof"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::string unused = unused_characters(words);
  const char end = unused.back();
  std::string text;
  for (const std::string& word : words) {
    for (const char c : word) {
      const auto at = kReplaced.find(c);
      text += at == std::string_view::npos ? c : unused[at];
    }
    text += end;
  }
  std::string line = fmt::format(
      R"(exec sh -c 'n=${{IFS#??}};set -f;IFS=;p="$*";)"
      R"(r(){{ IFS=$1;t=$2;set -- $p;IFS=$t;p="$*";}};)"
      R"(r {} "$n";r {} "'\''";r {} '\!';r {} '\\\\';IFS={};set -- $p;exec sh -c "$@"' msprof)",
      unused[0], unused[1], unused[2], unused[3], end);
  for (std::size_t at = 0; at < text.size(); at += kMaxWord)
    line += fmt::format(" '{}'", std::string_view(text).substr(at, kMaxWord));
  return line;
}

}  // namespace

std::string BoardAnswer::reason() const {
  std::string text = printable(trim(err));
  if (!text.empty()) return text;
  if (!end.signal.empty()) return fmt::format("killed by SIG{}", end.signal);
  if (end.exit_code) return fmt::format("exit code {}", *end.exit_code);
  return "ended without a message";
}

std::string copy_command(const SshLogin& login, const std::string& folder, bool has_sftp) {
  const std::string& host = login.shown_host();
  const bool is_ipv6 = host.find(':') != std::string::npos;
  // current scp uses SFTP; -O selects the older protocol
  return fmt::format("scp {}{}{}{}-r {} .", login.ssh_options, has_sftp ? "" : "-O ",
                     login.port == 22 ? "" : fmt::format("-P {} ", login.port),
                     login.key.empty() ? "" : fmt::format("-i {} ", shell_word(login.key.string())),
                     shell_word(fmt::format(fmt::runtime(is_ipv6 ? "{}@[{}]:{}" : "{}@{}:{}"),
                                            login.user, host, folder)));
}

bool fits_into_command(const BoardScript& script, const std::vector<std::string>& arguments) {
  return login_shell_line(script, arguments).size() <= kMaxCommand;
}

std::string command_line(const BoardScript& script, const std::vector<std::string>& arguments) {
  std::string line = login_shell_line(script, arguments);
  if (line.size() > kMaxCommand) {
    throw Error(Exit::usage,
                fmt::format("{}: the command has {} bytes, more than a board accepts ({}); use "
                            "shorter arguments, or put them into a file of the project",
                            script.name, line.size(), kMaxCommand));
  }
  return line;
}

std::string random_end_word() {
  return fmt::format("@{}{}@", random_name(), random_name());
}

BoardShell::BoardShell(SshLogin login) : login_(std::move(login)) {
  if (!login_.run_hosts) login_.run_hosts = std::make_shared<RunHosts>();
}

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
    } catch (const ConnectFailure& failure) {
      if (!failure.may_be_repeated()) throw;
      log::verbose("{}", failure.what());
    }
    if (Clock::now() + kBetweenTries >= end) return false;
    std::this_thread::sleep_for(kBetweenTries);
  }
}

std::unique_ptr<SshCommand> BoardShell::start(const BoardScript& script,
                                              const std::vector<std::string>& arguments,
                                              StreamSink on_stdout, const StreamSink& on_stderr,
                                              const std::optional<SshTerminal>& terminal,
                                              std::shared_ptr<std::string> greeting) {
  return connection().start(command_line(script, arguments),
                            GreetingFilter(std::move(on_stdout), std::move(greeting)), on_stderr,
                            terminal);
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

BoardAnswer BoardShell::ask(const BoardScript& script, const std::vector<std::string>& arguments,
                            std::string_view input, std::size_t most_bytes) {
  std::string out;
  const auto keep = [&](std::string_view bytes) {
    if (out.size() + bytes.size() > most_bytes) {
      throw TooMuchSent(
          fmt::format("{}: {}: the board's answer is too long", login_.name(), script.name));
    }
    out.append(bytes);
  };
  const auto give = [&](char* buffer, std::size_t size) {
    const std::size_t part = input.copy(buffer, size);
    input.remove_prefix(part);
    return part;
  };
  BoardAnswer answer = stream(script, arguments, input.empty() ? Source() : Source(give), keep);
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
      answers.push_back(ask(step.script, step.arguments, step.lines, step.most_bytes));
      goes_on = answers.back().has_succeeded() || step.may_fail;
      continue;
    }
    for (std::size_t i = 0; i < some.count() && goes_on; ++i) {
      answers.push_back(some.next());
      goes_on = answers.back().has_succeeded() ||
                (answers.back().end.exit_code && steps[first + i].may_fail);
    }
    some.finish();
  }
  answers.resize(steps.size());
  return answers;
}

void BoardShell::require_ok(const BoardScript& script, const BoardAnswer& answer) const {
  if (answer.has_succeeded()) return;
  throw Error(Exit::cannot_write,
              fmt::format("{}: {}: {}", login_.name(), script.name, answer.reason()));
}

void BoardShell::change(const BoardScript& script, const std::vector<std::string>& arguments,
                        std::string_view input) {
  require_ok(script, ask(script, arguments, input));
}

}  // namespace msprof
