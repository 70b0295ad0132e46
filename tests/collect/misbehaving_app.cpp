// A stand-in for an application on a board: it reads the `output` and `switch` of its acl.json,
// writes a JOB folder there, and does what its arguments say, in their order:
//   --init PATH       the acl.json it "passes to svp_acl_init" (before the other words)
//   job NAME          a JOB folder with data/        job-empty NAME   one without data/
//   job-links NAME    one with a link, a pipe        job-here NAME    one in the current folder
//   write PATH TEXT   append PATH TEXT   remove PATH   say TEXT   complain TEXT   echo-stdin
//   env NAME          print a variable   cwd   print the folder   argv0
//   exit N   raise N   hang   ignore-ends   ready PATH (makes an empty file)
//   child PIDFILE     a child in its group that ignores INT and TERM
//   daemon PIDFILE    a grandchild in a session of its own that ignores INT and TERM
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

void put(const fs::path& path, const std::string& text, std::ios::openmode mode = {}) {
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary | mode) << text;
}

// Appears whole: whoever waits for it must never read half a number.
void put_pid(const fs::path& path) {
  const fs::path temporary = path.string() + ".part";
  put(temporary, std::to_string(::getpid()));
  fs::rename(temporary, path);
}

nlohmann::json profiler_section(const std::string& given) {
  const char* replaced = std::getenv("MSPROF_ACL_JSON");
  std::ifstream stream(replaced != nullptr ? std::string(replaced) : given);
  return nlohmann::json::parse(stream, nullptr, false).value("profiler", nlohmann::json::object());
}

fs::path make_job(const fs::path& folder, const std::string& name) {
  const fs::path job = folder / name;
  fs::create_directories(job);
  put(job / "info.json.0", R"({"DeviceInfo": [{"aic_frequency": "1000"}]})");
  return job;
}

[[noreturn]] void hang() {
  for (;;) ::pause();
}

void ignore_ends() {
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGTERM, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
}

void spawn(const fs::path& pid_file, bool own_session) {
  const pid_t child = ::fork();
  if (child < 0) std::exit(99);
  if (child > 0) {
    while (!fs::exists(pid_file)) ::usleep(1000);
    return;
  }
  ignore_ends();
  if (own_session) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
  }
  put_pid(pid_file);
  hang();
}

class Script {
 public:
  explicit Script(std::vector<std::string> words) : words_(std::move(words)) {
    std::string given = "acl.json";
    if (words_.size() > 1 && words_[0] == "--init") {
      given = words_[1];
      next_ = 2;
    }
    profiler_ = profiler_section(given);
  }

  void run(const char* argv0) {
    while (next_ < words_.size()) {
      const std::string word = take();
      if (word.starts_with("job")) {
        job(word, take());
      } else if (word == "say") {
        std::cout << take() << std::endl;
      } else if (word == "complain") {
        std::cerr << take() << std::endl;
      } else if (word == "echo-stdin") {
        std::cout << std::cin.rdbuf() << std::flush;
      } else if (word == "cwd") {
        std::cout << fs::current_path().string() << std::endl;
      } else if (word == "argv0") {
        std::cout << argv0 << std::endl;
      } else if (word == "env") {
        const char* value = std::getenv(take().c_str());
        std::cout << (value != nullptr ? value : "(unset)") << std::endl;
      } else if (!files(word)) {
        processes(word);
      }
    }
  }

 private:
  std::string take() { return next_ < words_.size() ? words_[next_++] : std::string(); }

  void job(const std::string& word, const std::string& name) {
    if (profiler_.value("switch", "off") != "on") return;
    const fs::path output = profiler_.value("output", "");
    const fs::path made = make_job(word == "job-here" ? fs::path(".") : output, name);
    if (word == "job-empty") return;
    put(made / "data" / "aicore.0.m.1.1.1.0", "MSVP and records");
    if (word == "job-links") {
      fs::create_symlink("/etc/hostname", made / "data" / "leaves");
      ::mkfifo((made / "data" / "pipe").c_str(), 0600);
    }
  }

  bool files(const std::string& word) {
    if (word == "write") {
      const std::string path = take();
      put(path, take());
    } else if (word == "append") {
      const std::string path = take();
      put(path, take(), std::ios::app);
    } else if (word == "remove") {
      fs::remove(take());
    } else if (word == "ready") {
      put_pid(take());
    } else {
      return false;
    }
    return true;
  }

  void processes(const std::string& word) {
    if (word == "exit") std::exit(std::stoi(take()));
    if (word == "raise") {
      const int number = std::stoi(take());
      // A sanitizer would turn the signal into an exit code.
      if (number != SIGKILL) ::signal(number, SIG_DFL);
      ::raise(number);
    }
    if (word == "hang") hang();
    if (word == "ignore-ends") ignore_ends();
    if (word == "child") spawn(take(), false);
    if (word == "daemon") spawn(take(), true);
  }

  std::vector<std::string> words_;
  std::size_t next_ = 0;
  nlohmann::json profiler_;
};

}  // namespace

int main(int argc, char** argv) {
  Script(std::vector<std::string>(argv + 1, argv + argc)).run(argv[0]);
  return 0;
}
