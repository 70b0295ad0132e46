#include "board/session/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxStepErrors = 256 << 10;  // limit for the kept stderr of all steps
constexpr std::size_t kMaxErrorBytes = 16 << 20;   // stderr of a command; may have a line per file
constexpr std::size_t kStepInputChunk = 128 << 10;
constexpr std::chrono::milliseconds kStepPollInterval{100};
constexpr std::chrono::seconds kSilence{120};
constexpr std::chrono::seconds kFarewell{10};

// Arguments: $1 word before the exit codes. After each step, its exit code is written to both
// streams.
constexpr std::string_view kStepsHead = R"sh(
word=$1
over() {
  echo
  echo "$word $1"
  { echo; echo "$word $1"; } >&2
  [ "$1" = 0 ] || [ "$2" = 1 ] || exit 0
}
)sh";

// Parses the exit code after an end mark, up to the line end; returns nullopt if it is incomplete
// or invalid.
std::optional<int> parse_code(std::string_view line) {
  std::uint64_t value = 0;
  if (!parse_u64(line.substr(0, line.find('\n')), value) || value > 255) return std::nullopt;
  return static_cast<int>(value);
}

// Ends a command whose input was aborted. Waits for its end: its files are checked afterwards.
void end_early(SshCommand& command) {
  const auto limit = Clock::now() + kFarewell;
  try {
    command.close_input();
    while (!command.wait(kStepPollInterval) && Clock::now() < limit && interrupt::count() < 2) {
    }
  } catch (const Error& error) {
    log::verbose("{}", error.what());
  }
}

}  // namespace

StepPack::StepPack(const std::string& word) : text_(kStepsHead), parameters_{word} {}

std::string StepPack::parameter(std::string value) {
  parameters_.push_back(std::move(value));
  return fmt::format("\"${{{}}}\"", parameters_.size());
}

bool StepPack::add(const BoardStep& step) {
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
  if (fits_into_command(script(), parameters_)) return true;
  text_ = text;
  parameters_.resize(count);
  return false;
}

void StepAnswers::add_out(std::string_view bytes) {
  // Fast path without a copy: the buffer is empty and `bytes` contain no end mark.
  if (sink_ && out_.empty() && bytes.find(end_) == std::string_view::npos) {
    const std::size_t given = bytes.size() - partial_match_at_end(bytes, end_);
    out_ = bytes.substr(given);
    if (given > 0) sink_(bytes.substr(0, given));
    return;
  }
  out_.append(bytes);
  give_out();
}

void StepAnswers::give_out() {
  if (!out_end_) {
    const auto at = out_.find(end_, searched_);
    if (at != std::string::npos) out_end_ = at;
    searched_ = out_.size() - std::min(out_.size(), end_.size());
  }
  if (!sink_) return;
  const std::size_t size = out_end_ ? *out_end_ : out_.size() - partial_match_at_end(out_, end_);
  if (size == 0) return;
  const std::string given = out_.substr(0, size);
  out_.erase(0, size);
  searched_ = 0;
  if (out_end_) out_end_ = 0;
  sink_(given);
}

void StepAnswers::add_err(std::string_view bytes) {
  err_.append(bytes);
  if (err_.size() <= kMaxStepErrors) return;
  err_.erase(0, err_.size() - kMaxStepErrors);
  is_err_cut_ = true;
}

void StepAnswers::set_sink(StreamSink sink) {
  sink_ = std::move(sink);
  give_out();
}

bool StepAnswers::has_next() const {
  if (!out_end_ || out_.find('\n', *out_end_ + end_.size()) == std::string::npos) return false;
  const auto at = err_.find(end_);
  return is_err_cut_ ||
         (at != std::string::npos && err_.find('\n', at + end_.size()) != std::string::npos);
}

BoardAnswer StepAnswers::take(const CommandEnd& end) {
  BoardAnswer answer;
  answer.end = end;
  const auto code =
      out_end_ ? parse_code(std::string_view(out_).substr(*out_end_ + end_.size())) : std::nullopt;
  if (code) {
    answer.end = {code, ""};
    // Moves the answer, which may have many megabytes, and copies only the bytes after it.
    const auto line = out_.find('\n', *out_end_ + end_.size());
    std::string rest = line == std::string::npos ? std::string() : out_.substr(line + 1);
    answer.out = std::exchange(out_, std::move(rest));
    answer.out.resize(*out_end_);
  } else {
    answer.out = std::exchange(out_, {});
    if (answer.has_succeeded()) answer.end = {};
  }
  out_end_.reset();
  searched_ = 0;
  const auto at = err_.find(end_);
  answer.err = err_.substr(0, at);
  const auto line = at == std::string::npos ? at : err_.find('\n', at + end_.size());
  err_.erase(0, line == std::string::npos ? line : line + 1);
  answer.err.erase(0, answer.err.size() - std::min(answer.err.size(), kMaxErrorText));
  sink_ = {};
  give_out();
  return answer;
}

CommandPump::CommandPump(BoardShell& shell, const BoardScript& script,
                         const std::vector<std::string>& arguments, BoardShell::Source source,
                         StreamSink sink, StreamSink errors)
    : host_(shell.login().name()),
      name_(script.name),
      errors_(std::move(errors)),
      source_(std::move(source)),
      moved_(Clock::now()),
      command_(shell.start(
          script, arguments,
          [this, sink = std::move(sink)](std::string_view bytes) {
            moved_ = Clock::now();
            if (sink) return sink(bytes);
            count(unwanted_bytes_, bytes.size(), kMaxAnswer);
          },
          [this](std::string_view bytes) {
            moved_ = Clock::now();
            count(error_bytes_, bytes.size(), kMaxErrorBytes);
            if (errors_) errors_(bytes);
          },
          std::nullopt, greeting_)),
      buffer_(source_ ? kStepInputChunk : 0),
      is_open_(static_cast<bool>(source_)) {
  if (!is_open_) command_->close_input();
}

// Limits the output: a board that prints without end never triggers the silence limit.
void CommandPump::count(std::size_t& seen, std::size_t bytes, std::size_t most) {
  seen += bytes;
  if (seen > most)
    throw TooMuchSent(fmt::format("{}: {}: the board's output does not end", host_, name_));
}

std::optional<CommandEnd> CommandPump::turn() {
  if (is_open_ && waiting_.empty()) {
    try {
      waiting_ = {buffer_.data(), source_(buffer_.data(), buffer_.size())};
    } catch (const Error&) {
      end_early(*command_);
      throw;
    }
    if (waiting_.empty()) {
      command_->close_input();
      is_open_ = false;
    }
  }
  const std::size_t taken = waiting_.empty() ? 0 : command_->write(waiting_);
  waiting_.remove_prefix(taken);
  if (taken > 0) moved_ = Clock::now();
  // While the board accepts bytes, do not wait.
  const auto limit = taken > 0 && is_open_ ? std::chrono::milliseconds(0) : kStepPollInterval;
  if (auto end = command_->wait(limit)) {
    // A login shell that runs nothing (nologin) prints only the reason.
    if (!greeting_->empty() && errors_) errors_(*greeting_);
    return end;
  }
  if (Clock::now() - moved_ > kSilence) {
    throw Error(Exit::board_unreachable, fmt::format("{}: {} has made no progress for {} s", host_,
                                                     name_, kSilence.count()));
  }
  return std::nullopt;
}

StepsUnderWay::StepsUnderWay(BoardShell& shell, std::span<const BoardStep> steps,
                             const std::string& word, const BoardShell::Source& source)
    : answers_(word) {
  StepPack pack(word);
  bool takes_input = false;
  for (const BoardStep& step : steps) {
    if (!pack.add(step)) break;
    takes_input = takes_input || step.takes_input;
    most_bytes_ += step.most_bytes;
    names_.emplace_back(step.script.name);
  }
  if (names_.empty()) {
    end_ = CommandEnd{};
    return;
  }
  const auto take_out = [this, host = shell.login().name()](std::string_view bytes) {
    answers_.add_out(bytes);
    if (answers_.waiting_bytes() <= most_bytes_) return;
    throw TooMuchSent(fmt::format("{}: {}: the board's answer is too long", host,
                                  names_[std::max<std::size_t>(taken_, 1) - 1]));
  };
  pump_ =
      std::make_unique<CommandPump>(shell, pack.script(names_.front()), pack.parameters(),
                                    takes_input ? source : BoardShell::Source(), take_out,
                                    [this](std::string_view bytes) { answers_.add_err(bytes); });
}

BoardAnswer StepsUnderWay::next(const StreamSink& sink) {
  if (sink) answers_.set_sink(sink);
  if (pump_ && left() > 0) pump_->begin_part(names_[taken_++]);
  while (!end_ && !answers_.has_next()) end_ = pump_->turn();
  return answers_.take(end_.value_or(CommandEnd{}));
}

void StepsUnderWay::drop() {
  pump_.reset();
  end_ = CommandEnd{};
  answers_.set_sink({});
}

void StepsUnderWay::finish() {
  while (!end_) end_ = pump_->turn();
}

}  // namespace msprof
