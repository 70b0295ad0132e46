// Runs several scripts on a board as one command, and splits their answers as they arrive. Used by
// BoardShell and by code that continues before the last script ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "board/session/shell.hpp"

namespace msprof {

inline constexpr std::size_t kMaxErrorText = 4 << 10;  // limit for the kept stderr of a script

// Combines steps into one script. Their texts and arguments become its parameters; its own text has
// only constants and numbers. The exit code of each step follows its output on both streams.
class StepPack {
 public:
  // `word`: random_end_word().
  explicit StepPack(const std::string& word);

  // Returns false, without a change, if the command would become too long for a board.
  bool add(const BoardStep& step);

  BoardScript script(std::string_view name = "") const { return {name, text_}; }
  const std::vector<std::string>& parameters() const { return parameters_; }

 private:
  std::string parameter(std::string value);

  std::string text_;
  std::vector<std::string> parameters_;
};

// Splits the output of a StepPack's script into the answers of its steps.
class StepAnswers {
 public:
  explicit StepAnswers(const std::string& word) : end_("\n" + word + " ") {}

  void add_out(std::string_view bytes);
  void add_err(std::string_view bytes);
  // Redirects the next step's stdout to `sink` instead of its answer.
  void set_sink(StreamSink sink);
  // Returns true if the next step's answer is complete.
  bool has_next() const;
  // Returns the next step's answer. `end` is the end of the whole command, used if the step's own
  // exit code is missing.
  BoardAnswer take(const CommandEnd& end = {});
  std::size_t waiting_bytes() const { return out_.size(); }

 private:
  void give_out();

  std::string end_;
  std::string out_;
  std::string err_;
  bool is_err_cut_ = false;
  std::size_t searched_ = 0;  // these first bytes of out_ contain no start of an end mark
  std::optional<std::size_t> out_end_;
  StreamSink sink_;
};

// Drives a running command: sends its input, and limits its silence.
class CommandPump {
 public:
  // `shell` must outlive the object; `source` may be empty. Output goes to `sink` and `errors`;
  // without a sink, at most kMaxAnswer bytes are allowed.
  CommandPump(BoardShell& shell, const BoardScript& script,
              const std::vector<std::string>& arguments, BoardShell::Source source, StreamSink sink,
              StreamSink errors);

  // Sends and receives for a short time; returns the end of the command, if reached. Throws like
  // BoardShell::ask(), TooMuchSent.
  std::optional<CommandEnd> turn();
  // Sets the name of the current step for messages, and restarts the silence limit.
  void begin_part(std::string_view name) {
    name_ = name;
    moved_ = std::chrono::steady_clock::now();
  }

 private:
  void count(std::size_t& seen, std::size_t bytes, std::size_t most);

  std::string host_;
  std::string name_;
  std::size_t unwanted_bytes_ = 0;  // output received without a sink
  std::size_t error_bytes_ = 0;
  std::shared_ptr<std::string> greeting_ = std::make_shared<std::string>();
  StreamSink errors_;
  BoardShell::Source source_;
  std::chrono::steady_clock::time_point moved_;
  std::unique_ptr<SshCommand> command_;
  std::vector<char> buffer_;
  std::string_view waiting_;
  bool is_open_;
};

// Sends as many of the given steps as fit into one command.
class StepsUnderWay {
 public:
  StepsUnderWay(BoardShell& shell, std::span<const BoardStep> steps, const std::string& word,
                const BoardShell::Source& source = {});
  StepsUnderWay(const StepsUnderWay&) = delete;
  StepsUnderWay& operator=(const StepsUnderWay&) = delete;

  std::size_t count() const { return names_.size(); }  // number of steps that were sent
  std::size_t left() const { return names_.size() - taken_; }
  // Waits for the next answer; `sink`, if not empty, receives its stdout. Throws like
  // BoardShell::ask(), and whatever the sink throws.
  BoardAnswer next(const StreamSink& sink = {});
  // Waits for the end of the command.
  void finish();
  // Aborts the command after a sink has thrown; the sink is not called again.
  void drop();

 private:
  std::vector<std::string> names_;
  std::size_t most_bytes_ = 0;  // limit for all answers together
  std::size_t taken_ = 0;
  StepAnswers answers_;
  std::unique_ptr<CommandPump> pump_;
  std::optional<CommandEnd> end_;
};

}  // namespace msprof
