// Folders, projects and real collecting processes for the tests of collect.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/eventually.hpp"
#include "support/lines.hpp"

namespace msprof::test {

inline constexpr const char* kJob = "JOBABCDEFGHIJKLMNOPQRSTUVWXYZABC";
inline constexpr const char* kOtherJob = "JOBZYXWVUTSRQPONMLKJIHGFEDCBAZYX";

// A temporary folder with a project `project` and a cache folder. The destructor removes it.
class Sandbox {
 public:
  Sandbox();
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  const std::filesystem::path& root() const { return root_; }
  // The program under test: by default a driver with only the verb collect.
  const std::string& program() const { return program_; }
  void use_program(std::string program) { program_ = std::move(program); }
  std::filesystem::path project() const { return root_ / "project"; }
  std::filesystem::path cache() const { return root_ / "cache"; }
  std::filesystem::path runs() const { return cache() / "msprof" / "runs"; }
  // Puts the misbehaving application at `path`, relative to the sandbox.
  void add_app(const std::string& path = "project/main") const;
  void write(const std::string& path, const std::string& text) const;
  std::string read(const std::string& path) const;
  bool exists(const std::string& path) const;

 private:
  std::filesystem::path root_;
  std::string program_;
};

struct Finished {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  std::string out;
  std::string err;
};

class Collecting {
 public:
  // Starts the program in `folder` (default: the project) with `words` after "collect".
  Collecting(const Sandbox& sandbox, const std::vector<std::string>& words,
             const std::filesystem::path& folder = {}, const std::string& input = "",
             const std::vector<std::string>& environment = {});
  ~Collecting();
  Collecting(const Collecting&) = delete;
  Collecting& operator=(const Collecting&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  Finished wait();
  std::string err() const;

 private:
  std::filesystem::path folder_;
  pid_t pid_ = 0;
  bool waited_ = false;
};

Finished collect(const Sandbox& sandbox, const std::vector<std::string>& words,
                 const std::filesystem::path& folder = {}, const std::string& input = "",
                 const std::vector<std::string>& environment = {});

// Kind, permissions, time and content of each entry below `folder`.
std::map<std::string, std::string> snapshot(const std::filesystem::path& folder);

// True if the process has ended and is no zombie of a live parent.
bool process_gone(pid_t pid);
pid_t read_pid(const std::filesystem::path& file);
// True if no process executes a file below `folder`.
bool nothing_runs_below(const std::filesystem::path& folder);
// True if no run below `runs` is locked.
bool no_run_is_held(const std::filesystem::path& runs);

// A sandbox whose project contains the application and a configuration.
struct DemoProject : Sandbox {
  DemoProject() {
    add_app();
    write("project/acl.json", R"({"profiler":{"switch":"off"},"mine":1})");
    write("project/models/m.om", "model");
  }
};

inline bool is_empty_or_missing(const std::filesystem::path& folder) {
  return !std::filesystem::exists(folder) || std::filesystem::is_empty(folder);
}

}  // namespace msprof::test
