// A server for CANN applications: an account whose profile sets the variables of CANN's set_env.sh,
// and replacements for an application and the vendor's collector. For tests of runs over SSH.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "support/files.hpp"

namespace msprof::test {

inline constexpr const char* kProf = "PROF_000001_20260101120000000_00004711ABCDEFGH";

struct ServerScene : BoardScene {
  explicit ServerScene(const BoardOptions& options = {}) : BoardScene(options) {
    profile("");
    wait_for_answers(kAmple);
    add_script("app/infer", recording_script("$result"));
  }

  // Shortens the 5 s within which a program on PATH must identify itself. Not done in the board's
  // tools, because /etc/profile sets another PATH.
  void wait_for_answers(const std::string& seconds) const {
    add_script("bin/sleep",
               "[ \"$1\" != 5 ] || set -- " + seconds + "\nexec /usr/bin/sleep \"$@\"\n");
  }

  std::filesystem::path home() const { return board.home(); }

  // Makes login shells print a greeting, put ~/bin first on PATH, and run `more`.
  void profile(const std::string& more) const {
    write_file(home() / ".profile",
               "echo 'Welcome to the server'\nPATH=$HOME/bin:$PATH\n"
               "export PATH\n" +
                   more);
  }

  void add_script(const std::string& name, const std::string& text) const {
    write_file(home() / name, "#!/bin/sh\n" + text);
    std::filesystem::permissions(home() / name, std::filesystem::perms::owner_all);
  }

  // Adds any file that is not a library of the host runtime.
  void add_cann() const {
    write_file(home() / "cann/lib64/libascendcl.so", "a runtime of CANN");
    profile("export LD_LIBRARY_PATH=$HOME/cann/lib64\n");
  }

  // Script that records how it was started and leaves a PROF folder in `folder`; $result is the
  // folder named in PROFILER_SAMPLECONFIG.
  static std::string recording_script(const std::string& folder) {
    return "env >\"$HOME/env\"\n"
           "printf '%s\\n' \"$0\" \"$@\" >\"$HOME/argv\"\n"
           "pwd >\"$HOME/cwd\"\n"
           "echo out of it\n"
           "result=$(printf %s \"$PROFILER_SAMPLECONFIG\" | "
           "sed 's/.*\"result_dir\":\"\\([^\"]*\\)\".*/\\1/')\n"
           "prof=" +
           folder + "/" + kProf +
           "\n"
           "mkdir -p \"$prof/host/data\"\n"
           "echo bytes >\"$prof/host/data/slice\"\n"
           "echo '{\"pid\": \"4711\", \"pid_name\": \"infer\"}' >\"$prof/host/info.json\"\n"
           "echo \"${prof##*/}\" >\"${prof%/*}/4711_profiling_output_record\"\n";
  }

  // Runs `msprof collect -m MAIN --cann ...`.
  RunResult collect(const std::string& main, const Words& options,
                    const Words& application = {}) const {
    Words words = {"collect",  "-m",
                   main,       "--cann",
                   "--config", user.ini().string(),
                   "--output", user.output().string()};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back("--");
    words.insert(words.end(), application.begin(), application.end());
    return run_msprof(words, user.run_options());
  }

  Words argv() const { return lines("argv"); }
  Words lines(const std::string& name) const {
    Words found;
    const std::string text = read_file(home() / name);
    for (std::size_t at = 0; at < text.size();) {
      const auto end = text.find('\n', at);
      found.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return found;
  }
  std::string variable(const std::string& name) const {
    for (const std::string& line : lines("env")) {
      if (line.starts_with(name + "=")) return line.substr(name.size() + 1);
    }
    return "";
  }
};

}  // namespace msprof::test
