// Recording that is started and stopped by words typed in, while applications run: --dynamic=on.
// For the verbs that collect on CANN. How it is used: docs/dynamic.md.
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
#include "collect/companion.hpp"

namespace msprof {

// Lines of a descriptor, taken as they come.
class TypedLines {
 public:
  explicit TypedLines(int fd) : fd_(fd) {}

  // Nothing where no whole line is there yet; never waits.
  std::optional<std::string> next();
  bool at_end() const { return at_end_ && lines_.empty(); }
  int descriptor() const { return fd_; }

 private:
  void read_more();

  int fd_;
  std::string unread_;
  std::vector<std::string> lines_;  // the next one last
  bool at_end_ = false;
};

// The words start, stop, quit and help, and the applications that they are for.
class DynamicSession {
 public:
  // Applications put their folders into `output`.
  DynamicSession(CollectorSettings settings, std::filesystem::path output);

  // Throws Error(nothing_to_do) where the process is not to be reached. One that comes while the
  // others are recorded is recorded, too.
  void add(pid_t process);
  bool has(pid_t process) const;
  bool is_any_there() const;

  // Says what can be typed, where somebody can; and that something may be.
  void greet();
  void prompt();
  // Before messages of others.
  void end_prompt();
  // Obeys what was typed and hears what applications say. Where `waits_for_first`, a start waits
  // for the first application.
  void look(bool waits_for_first);
  // Until something is to be looked at, or `limit` is over.
  void wait(std::chrono::milliseconds limit) const;
  bool is_over() const { return is_over_; }
  // Stops what is recorded and leaves the applications.
  void quit();

  // Folders that are complete, since the last call.
  std::vector<std::filesystem::path> take_complete();
  // What applications refused, a sentence each.
  std::vector<std::string> take_notes();
  bool was_started() const { return was_started_; }

 private:
  struct Member {
    DynamicClient client;
    std::filesystem::path folder;  // that it records into; empty: none
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
  bool has_answered_ = false;        // the last start was answered
  std::optional<std::string> held_;  // a start that waits for the first application
  std::chrono::steady_clock::time_point held_until_;
  std::vector<std::filesystem::path> complete_;
  std::vector<std::string> notes_;
};

// A session beside an application that msprof itself starts; its descendants, too.
class DynamicCompanion : public Companion {
 public:
  explicit DynamicCompanion(CollectorSettings settings) : settings_(std::move(settings)) {}

  void begin(const RunPaths& paths, RunCommand& command) override;
  std::vector<std::filesystem::path> tick() override;
  std::vector<std::string> finish() override;

 private:
  void find_applications();

  CollectorSettings settings_;
  std::filesystem::path home_;
  std::optional<DynamicSession> session_;
  std::vector<pid_t> refused_;
};

// A session with applications that run already; to its end like collect().
struct DynamicRequest {
  std::vector<pid_t> processes;
  CollectorSettings settings;
  std::optional<std::string> output;  // default: the current folder
};
void run_dynamic_session(const DynamicRequest& request, CollectResult& result);

}  // namespace msprof
