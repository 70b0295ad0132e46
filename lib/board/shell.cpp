#include "board/shell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
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
constexpr std::size_t kMaxStepErrors = 256 << 10;  // of several scripts together
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

void keep_tail(std::string& tail, std::string_view bytes, std::size_t most = kMaxErrorText) {
  tail.append(bytes);
  if (tail.size() > most) tail.erase(0, tail.size() - most);
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

// $1 the word in front of the codes. Behind each step both streams get its code.
constexpr std::string_view kStepsHead = R"sh(
word=$1
over() {
  echo
  echo "$word $1"
  { echo; echo "$word $1"; } >&2
  [ "$1" = 0 ] || [ "$2" = 1 ] || exit 0
}
)sh";

// Steps as one script: their texts and arguments are its parameters, and its own text has numbers
// beside what is constant.
class StepPack {
 public:
  explicit StepPack(const std::string& word) : text_(kStepsHead), parameters_{word} {}

  // False, and nothing has changed, where they would no longer be one command.
  bool add(const BoardStep& step) {
    const std::string text = text_;
    const std::size_t count = parameters_.size();
    text_ += fmt::format("sh -c {} msprof", parameter(std::string(step.script.text)));
    for (const std::string& argument : step.arguments) text_ += " " + parameter(argument);
    if (!step.lines.empty()) {
      const auto size = step.lines.size() - (step.lines.ends_with('\n') ? 1 : 0);
      // Lines of a here-document end with a line break.
      const std::string lines = parameter(step.lines.substr(0, size));
      text_ += fmt::format(" <<@end@\n{}\n@end@\n", lines.substr(1, lines.size() - 2));
    } else {
      text_ += step.takes_input ? "\n" : " </dev/null\n";
    }
    text_ += fmt::format("over $? {}\n", step.may_fail ? 1 : 0);
    if (line_of(script(), parameters_).size() <= kMaxCommand) return true;
    text_ = text;
    parameters_.resize(count);
    return false;
  }

  BoardScript script(std::string_view name = "") const { return {name, text_}; }
  const std::vector<std::string>& parameters() const { return parameters_; }

 private:
  std::string parameter(std::string value) {
    parameters_.push_back(std::move(value));
    return fmt::format("\"${{{}}}\"", parameters_.size());
  }

  std::string text_;
  std::vector<std::string> parameters_;
};

// Takes one step's part, and its code, from the front of `text`; false where it has not ended.
bool take_part(std::string_view& text, const std::string& end, std::string& part, int& code) {
  const auto at = text.find(end);
  if (at == std::string_view::npos) return false;
  part = text.substr(0, at);
  text.remove_prefix(at + end.size());
  const auto line = text.substr(0, text.find('\n'));
  std::uint64_t value = 0;
  if (!parse_u64(line, value) || value > 255) return false;
  code = static_cast<int>(value);
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return true;
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
  return stream(script, arguments, source, sink, kMaxErrorText);
}

BoardAnswer BoardShell::stream(const BoardScript& script, const std::vector<std::string>& arguments,
                               const Source& source, const StreamSink& sink,
                               std::size_t most_errors) {
  BoardAnswer answer;
  auto moved = Clock::now();
  const auto command = begin(
      script, arguments,
      [&](std::string_view bytes) {
        moved = Clock::now();
        if (sink) sink(bytes);
      },
      [&](std::string_view bytes) {
        moved = Clock::now();
        keep_tail(answer.err, bytes, most_errors);
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
  const std::string end = "\n" + word + " ";
  std::vector<BoardAnswer> answers;
  bool goes_on = true;
  while (goes_on && answers.size() < steps.size()) {
    const std::size_t first = answers.size();
    const BoardStep& step = steps[first];
    StepPack pack(word);
    std::size_t count = 0;
    bool takes_input = false;
    while (first + count < steps.size() && pack.add(steps[first + count])) {
      takes_input = takes_input || steps[first + count].takes_input;
      ++count;
    }
    if (count == 0) {
      answers.push_back(ask(step.script, step.arguments, step.lines));
      goes_on = answers.back().ok() || step.may_fail;
      continue;
    }
    std::string out;
    const BoardScript script = pack.script(step.script.name);
    const BoardAnswer all = stream(script, pack.parameters(), takes_input ? source : Source(),
                                   collector(script, out), kMaxStepErrors);
    std::string_view rest_out = out;
    std::string_view rest_err = all.err;
    for (std::size_t i = 0; i < count && goes_on; ++i) {
      BoardAnswer answer;
      answer.end = all.end;  // where it never came to its own
      int code = 0;
      if (take_part(rest_out, end, answer.out, code)) {
        answer.end = {code, ""};
      } else {
        answer.out = rest_out;
        if (answer.ok()) answer.end = {};
      }
      if (!take_part(rest_err, end, answer.err, code)) answer.err = rest_err;
      answer.err.erase(0, answer.err.size() - std::min(answer.err.size(), kMaxErrorText));
      goes_on = answer.ok() || (answer.end.exit_code && steps[first + i].may_fail);
      answers.push_back(std::move(answer));
    }
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
