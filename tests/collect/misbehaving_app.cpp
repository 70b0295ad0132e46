// A fake board application. It reads `output` and `switch` of its acl.json, writes a JOB folder
// there, and executes the commands given as arguments, in order:
//   --init PATH         the acl.json it "passes to svp_acl_init" (must come first)
//   job NAME            makes a JOB folder with data/
//   job-empty NAME      makes a JOB folder without data/
//   job-links NAME      makes a JOB folder with a link and a pipe
//   job-here NAME       makes a JOB folder in the current folder
//   write PATH TEXT, append PATH TEXT, remove PATH
//   say TEXT            prints TEXT and flushes
//   mutter TEXT         prints TEXT without flushing
//   complain TEXT       prints TEXT on stderr
//   echo-stdin          copies stdin to stdout
//   tty                 prints which standard streams are terminals
//   env NAME            prints a variable
//   cwd, argv0          print the current folder, argv[0]
//   exit N, raise N     exit with code N, raise signal N
//   hang, sleep SECONDS
//   await PATH          waits until PATH exists
//   ignore-ends         ignores INT, TERM and HUP
//   ready PATH          makes a file with its pid
//   child PIDFILE       starts a child in its process group that ignores INT, TERM and HUP
//   daemon PIDFILE      starts a grandchild in a separate session that ignores them
//   on-term WORD... end runs WORD... on TERM while it hangs or sleeps, then exits
//   on-int WORD... end  the same on INT
//   fill PATH           writes until the disk is full (at most 256 MB) and prints the error
//   grow PATH PIDFILE   starts a daemon that keeps appending to PATH, up to 256 MB
// In the data/ of the last JOB (no effect if profiling is off):
//   pour NAME BYTES     extends NAME to BYTES in chunks of 64 KB, each as soon as 1 MB of the disk
//                       is free (exit code 98 if it never is), then makes its .done
//   big NAME BYTES      makes a file of BYTES
//   many NAME COUNT     makes files of 4 KB: NAME.0, NAME.1, ...
//   done NAME LENGTH    makes a file of 16 bytes and a NAME.done that claims LENGTH
//   odd-names NAME      makes two files with a newline and a 0x01 in their names
//   link-out NAME       makes a symbolic link to /etc/hostname
// A PATH that starts with JOB/ is in the last JOB.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/eventually.hpp"

namespace fs = std::filesystem;

namespace {

void put(const fs::path& path, const std::string& text, std::ios::openmode mode = {}) {
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary | mode) << text;
}

// Writes atomically: a process that waits for the file must never read an incomplete number.
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

constexpr std::uint64_t kMaxBytes = 256 << 20;

// Bytes that depend on their position, to detect holes and repetitions.
std::string some_bytes(std::uint64_t begin, std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t i = 0; i < count; i += 8) {
    const std::uint64_t value = (begin + i) * 0x9E3779B97F4A7C15U;
    std::memcpy(bytes.data() + i, &value, std::min<std::size_t>(8, count - i));
  }
  return bytes;
}

// Writes `size` bytes or until an error; returns errno, or 0.
int write_bytes(const fs::path& path, std::uint64_t size) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return errno;
  int error = 0;
  for (std::uint64_t at = 0; at < size && error == 0;) {
    const std::string bytes = some_bytes(at, std::min<std::uint64_t>(1 << 20, size - at));
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0) error = errno;
    if (count > 0) at += static_cast<std::uint64_t>(count);
  }
  ::close(fd);
  return error;
}

void grow(const fs::path& path) {
  for (std::uint64_t at = 0; at < kMaxBytes; at += 4096) {
    put(path, some_bytes(at, 4096), std::ios::app);
    ::usleep(1000);
  }
}

bool wait_for_space(const fs::path& folder) {
  return msprof::test::eventually([&] {
    struct statvfs space = {};
    return ::statvfs(folder.c_str(), &space) == 0 && space.f_bavail * space.f_frsize > (1 << 20);
  });
}

void pour(const fs::path& path, std::uint64_t size) {
  constexpr std::uint64_t kPiece = 64 << 10;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  for (std::uint64_t at = fs::file_size(path); at < size;) {
    if (!wait_for_space(path.parent_path())) std::exit(98);
    const std::string bytes = some_bytes(at, std::min(kPiece, size - at));
    if (::write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      std::exit(97);
    at += bytes.size();
  }
  ::close(fd);
  put(path.string() + ".done", "filesize:" + std::to_string(size) + "\n");
}

void ignore_ends() {
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGTERM, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
}

void spawn(
    const fs::path& pid_file, bool own_session, const std::function<void()>& task = [] {}) {
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
  task();
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
      } else if (word == "on-term") {
        on_signal(SIGTERM);
      } else if (word == "on-int") {
        on_signal(SIGINT);
      } else if (word == "say") {
        std::cout << take() << std::endl;
      } else if (word == "mutter") {
        std::cout << take() << '\n';
      } else if (word == "tty") {
        std::cout << "terminals:";
        for (const int fd : {0, 1, 2}) std::cout << (::isatty(fd) != 0 ? " yes" : " no");
        std::cout << std::endl;
      } else if (word == "complain") {
        std::cerr << take() + "\n";  // one write
      } else if (word == "echo-stdin") {
        std::cout << std::cin.rdbuf() << std::flush;
      } else if (word == "cwd") {
        std::cout << fs::current_path().string() << std::endl;
      } else if (word == "argv0") {
        std::cout << argv0 << std::endl;
      } else if (word == "env") {
        const char* value = std::getenv(take().c_str());
        std::cout << (value != nullptr ? value : "(unset)") << std::endl;
      } else if (!files(word) && !data_files(word)) {
        processes(word);
      }
    }
  }

 private:
  std::string take() { return next_ < words_.size() ? words_[next_++] : std::string(); }

  fs::path take_path() {
    const std::string path = take();
    return path.starts_with("JOB/") ? job_ / path.substr(4) : fs::path(path);
  }

  void job(const std::string& word, const std::string& name) {
    if (profiler_.value("switch", "off") != "on") return;
    const fs::path output = profiler_.value("output", "");
    const fs::path made = make_job(word == "job-here" ? fs::path(".") : output, name);
    job_ = made;
    if (word == "job-empty") return;
    put(made / "data" / "aicore.0.m.1.1.1.0", "MSVP and records");
    if (word == "job-links") {
      fs::create_symlink("/etc/hostname", made / "data" / "leaves");
      ::mkfifo((made / "data" / "pipe").c_str(), 0600);
    }
  }

  bool files(const std::string& word) {
    if (word == "write") {
      const fs::path path = take_path();
      put(path, take());
    } else if (word == "append") {
      const fs::path path = take_path();
      put(path, take(), std::ios::app);
    } else if (word == "remove") {
      fs::remove(take_path());
    } else if (word == "fill") {
      const int error = write_bytes(take_path(), kMaxBytes);
      std::cout << "fill: " << (error == 0 ? "no error" : std::strerror(error)) << std::endl;
    } else if (word == "ready") {
      put_pid(take());
    } else {
      return false;
    }
    return true;
  }

  bool data_files(const std::string& word) {
    const bool has_value = word == "big" || word == "many" || word == "done" || word == "pour";
    if (!has_value && word != "odd-names" && word != "link-out") return false;
    const std::string name = take();
    const std::uint64_t value = has_value ? std::stoull(take()) : 0;
    if (job_.empty()) return true;
    const fs::path data = job_ / "data";
    fs::create_directories(data);
    if (word == "big") {
      if (const int error = write_bytes(data / name, value); error != 0) {
        std::cerr << "big: " << std::strerror(error) << std::endl;
        std::exit(1);
      }
    } else if (word == "pour") {
      pour(data / name, value);
    } else if (word == "many") {
      for (std::uint64_t i = 0; i < value; ++i) {
        put(data / (name + "." + std::to_string(i)), some_bytes(i, 4096));
      }
    } else if (word == "done") {
      put(data / name, "MSVP and records");
      put(data / (name + ".done"), "filesize:" + std::to_string(value) + "\n");
    } else if (word == "odd-names") {
      put(data / (name + "\nline"), "newline");
      put(data / (name + "\x01"), "control");
    } else {
      fs::create_symlink("/etc/hostname", data / name);
    }
    return true;
  }

  // The signal is blocked from now until the script hangs or sleeps.
  void on_signal(int number) {
    std::vector<std::string>& words = words_at_signal_[number];
    for (std::string word = take(); !word.empty() && word != "end"; word = take()) {
      words.push_back(word);
    }
    const sigset_t handled = handled_signals();
    ::sigprocmask(SIG_BLOCK, &handled, nullptr);
  }

  sigset_t handled_signals() const {
    sigset_t handled;
    sigemptyset(&handled);
    for (const auto& [number, words] : words_at_signal_) sigaddset(&handled, number);
    return handled;
  }

  // Sleeps for `limit`, or forever if it is null.
  void rest(const timespec* limit) {
    if (words_at_signal_.empty()) {
      if (limit == nullptr) hang();
      ::nanosleep(limit, nullptr);
      return;
    }
    const sigset_t handled = handled_signals();
    int signal = 0;
    do {
      signal = limit == nullptr ? ::sigwaitinfo(&handled, nullptr)
                                : ::sigtimedwait(&handled, nullptr, limit);
    } while (signal < 0 && limit == nullptr);
    if (signal < 0) return;
    words_ = words_at_signal_[signal];
    next_ = 0;
    run("");
    std::exit(0);
  }

  void processes(const std::string& word) {
    if (word == "exit") std::exit(std::stoi(take()));
    if (word == "raise") {
      const int number = std::stoi(take());
      // A sanitizer would convert the signal to an exit code.
      if (number != SIGKILL) ::signal(number, SIG_DFL);
      ::raise(number);
    }
    if (word == "hang") rest(nullptr);
    if (word == "await") {
      const fs::path path = take_path();
      const timespec moment = {0, 5'000'000};
      while (!fs::exists(path)) rest(&moment);
    }
    if (word == "sleep") {
      const timespec limit = {std::stoi(take()), 0};
      rest(&limit);
    }
    if (word == "ignore-ends") ignore_ends();
    if (word == "child") spawn(take(), false);
    if (word == "daemon") spawn(take(), true);
    if (word == "grow") {
      const fs::path path = take_path();
      put(path, some_bytes(0, 4096), std::ios::app);
      spawn(take(), true, [&] { grow(path); });
    }
  }

  std::vector<std::string> words_;
  std::size_t next_ = 0;
  std::map<int, std::vector<std::string>> words_at_signal_;
  fs::path job_;  // the latest JOB folder; may be empty
  nlohmann::json profiler_;
};

}  // namespace

int main(int argc, char** argv) {
  Script(std::vector<std::string>(argv + 1, argv + argc)).run(argv[0]);
  return 0;
}
