// Recording that the user starts and stops by typing commands while applications run: --dynamic=on.
// Used by the verbs that collect on CANN. Usage: docs/dynamic.md.
#pragma once

#include <sys/types.h>

#include <fmt/format.h>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collect/cann/collector_options.hpp"
#include "collect/cann/dynamic_client.hpp"
#include "collect/collector.hpp"

namespace msprof {

// Reads typed lines from a descriptor without blocking.
class TypedLines {
 public:
  explicit TypedLines(int fd) : fd_(fd) {}

  // Returns nullopt if there is no complete line; never waits.
  std::optional<std::string> next();
  bool is_at_end() const { return is_at_end_ && lines_.empty(); }
  int descriptor() const { return fd_; }

 private:
  void read_more();

  int fd_;
  std::string unread_;
  std::vector<std::string> lines_;  // in reverse order
  bool is_at_end_ = false;
};

// Handles the commands start, stop, quit and help for a set of applications.
class DynamicSession {
 public:
  // Applications write their folders to `output`.
  DynamicSession(CollectorSettings settings, std::filesystem::path output);

  // Throws Error(nothing_to_do) if the process cannot be reached. A process added during a
  // recording is recorded, too.
  void add(pid_t process);
  bool has(pid_t process) const;
  bool is_any_there() const;

  // greet() prints the available commands, if there is a user; prompt() prints the prompt.
  void greet();
  void prompt();
  // Call before other code prints messages.
  void end_prompt();
  // Executes typed commands and reads messages of applications. With `waits_for_first`, a start
  // command waits for the first application.
  void look(bool waits_for_first);
  // Waits until there is input or a message, at most `limit`.
  void wait(std::chrono::milliseconds limit) const;
  bool is_over() const { return is_over_; }
  // Stops all recordings and disconnects.
  void quit();

  // Returns the folders completed since the last call.
  std::vector<std::filesystem::path> take_complete();
  // Returns a sentence for each refusal of an application.
  std::vector<std::string> take_notes();
  bool was_started() const { return was_started_; }

 private:
  struct Member {
    DynamicClient client;
    std::filesystem::path folder;  // folder of the current recording; empty: none
    bool is_there = true;
  };

  void obey(const std::string& line);
  void start();
  void stop();
  void start(Member& member);
  void end_folder(Member& member);
  void hear();
  template <typename... Args>
  void say(fmt::format_string<Args...> format, Args&&... args);
  void note(const std::string& sentence);
  void respond(std::string_view line);

  CollectorSettings settings_;
  std::filesystem::path output_;
  std::vector<Member> members_;
  TypedLines typed_;
  bool is_terminal_;
  bool is_prompting_ = false;
  bool is_over_ = false;
  bool wants_recording_ = false;
  bool was_started_ = false;
  bool has_answered_ = false;        // the last start command was answered
  std::optional<std::string> held_;  // a start command that waits for the first application
  std::chrono::steady_clock::time_point held_until_;
  std::vector<std::filesystem::path> complete_;
  std::vector<std::string> notes_;
};

// A session for an application that msprof starts, and its descendants. Used by the collector.
class DynamicCompanion {
 public:
  explicit DynamicCompanion(CollectorSettings settings) : settings_(std::move(settings)) {}

  // Called before the application starts; changes the command.
  void begin(const RunPaths& paths, RunCommand& command);
  // Called about ten times a second, and once more at the end. Returns captures in the output
  // folder of the run that are complete and may be moved.
  std::vector<std::filesystem::path> tick();
  // Called when the application has ended; returns sentences about problems.
  std::vector<std::string> finish();

 private:
  void find_applications();

  CollectorSettings settings_;
  std::filesystem::path home_;
  std::optional<DynamicSession> session_;
  std::vector<pid_t> refused_;
};

// A session with running applications. The function below runs it to its end, like collect().
struct DynamicRequest {
  std::vector<pid_t> processes;
  CollectorSettings settings;
  std::optional<std::string> output;  // default: the current folder
};
void run_dynamic_session(const DynamicRequest& request, CollectResult& result);

}  // namespace msprof
