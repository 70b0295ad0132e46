// Several scripts of a board as one command, and their answers as they come. For BoardShell and for
// those who go on before the last of them has ended.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "board/shell.hpp"

namespace msprof {

inline constexpr std::size_t kMaxErrorText = 4 << 10;  // what is kept of the stderr of a script

// Steps as one script: their texts and arguments are its parameters, and its own text has numbers
// beside what is constant. Behind the output of each, on both streams, stands its exit code.
class StepPack {
 public:
  // `word`: random_end_word().
  explicit StepPack(const std::string& word);

  // False, and nothing has changed, where the command would be longer than a board takes.
  bool add(const BoardStep& step);

  BoardScript script(std::string_view name = "") const { return {name, text_}; }
  const std::vector<std::string>& parameters() const { return parameters_; }

 private:
  std::string parameter(std::string value);

  std::string text_;
  std::vector<std::string> parameters_;
};

// Takes what such a script prints apart.
class StepAnswers {
 public:
  explicit StepAnswers(const std::string& word) : end_("\n" + word + " ") {}

  void add_out(std::string_view bytes);
  void add_err(std::string_view bytes);
  // Gets the next step's stdout as it comes, in place of its answer.
  void set_sink(StreamSink sink);
  // True if all of the next step's answer has come.
  bool has_next() const;
  // The next step's answer; `end` is that of the command, which counts where the step's own code
  // never came.
  BoardAnswer take(const CommandEnd& end = {});
  std::size_t waiting_bytes() const { return out_.size(); }

 private:
  void give_out();

  std::string end_;
  std::string out_;
  std::string err_;
  bool cut_err_ = false;
  std::size_t searched_ = 0;  // bytes of out_ in which no end begins
  std::optional<std::size_t> out_end_;
  StreamSink sink_;
};

// A command while it is under way: its input is sent, and its silence is limited.
class CommandPump {
 public:
  // Of `shell`, which stays there; `source` may be empty. What comes goes to `sink` and `errors`;
  // where there is no sink, at most kMaxAnswer may come.
  CommandPump(BoardShell& shell, const BoardScript& script,
              const std::vector<std::string>& arguments, BoardShell::Source source, StreamSink sink,
              StreamSink errors);

  // Waits a moment. Throws as BoardShell::ask(), TooMuchSent.
  std::optional<CommandEnd> turn();
  // What it does from now on, for messages; its silence so far was ours.
  void begin_part(std::string_view name) {
    name_ = name;
    moved_ = std::chrono::steady_clock::now();
  }

 private:
  void count(std::size_t& seen, std::size_t bytes, std::size_t most);

  std::string host_;
  std::string name_;
  std::size_t unwanted_bytes_ = 0;  // without a sink
  std::size_t error_bytes_ = 0;
  std::shared_ptr<std::string> greeting_ = std::make_shared<std::string>();
  StreamSink errors_;
  BoardShell::Source source_;
  std::chrono::steady_clock::time_point moved_;
  std::unique_ptr<SshCommand> command_;
  std::vector<char> buffer_;
  std::string_view waiting_;
  bool open_;
};

// As many of some steps as one command takes, sent at once.
class StepsUnderWay {
 public:
  StepsUnderWay(BoardShell& shell, std::span<const BoardStep> steps, const std::string& word,
                const BoardShell::Source& source = {});
  StepsUnderWay(const StepsUnderWay&) = delete;
  StepsUnderWay& operator=(const StepsUnderWay&) = delete;

  std::size_t count() const { return names_.size(); }  // of those that were sent
  std::size_t left() const { return names_.size() - taken_; }
  // Waits for the next one's answer; `sink`, if not empty, gets its stdout. Throws as
  // BoardShell::ask(), and what the sink throws.
  BoardAnswer next(const StreamSink& sink = {});
  // Waits for the end of the command.
  void finish();
  // Ends it as it is; after an error of a sink, which gets nothing more.
  void drop();

 private:
  std::vector<std::string> names_;
  std::size_t most_bytes_ = 0;  // of all answers
  std::size_t taken_ = 0;
  StepAnswers answers_;
  std::unique_ptr<CommandPump> pump_;
  std::optional<CommandEnd> end_;
};

}  // namespace msprof
