#include "collect/collect_fixture.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

std::string read_all(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

void redirect(const fs::path& path, int flags, int to) {
  const int fd = ::open(path.c_str(), flags, 0600);
  if (fd < 0 || ::dup2(fd, to) < 0) ::_exit(125);
  ::close(fd);
}

}  // namespace

Sandbox::Sandbox() : program_(COLLECT_DRIVER) {
  std::string name = (fs::temp_directory_path() / "msprof_collect_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
  root_ = fs::canonical(name);
  fs::create_directories(project());
}

Sandbox::~Sandbox() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

void Sandbox::add_app(const std::string& path) const {
  fs::create_directories((root_ / path).parent_path());
  fs::copy_file(COLLECT_APP, root_ / path);
}

void Sandbox::write(const std::string& path, const std::string& text) const {
  fs::create_directories((root_ / path).parent_path());
  std::ofstream(root_ / path, std::ios::binary) << text;
}

std::string Sandbox::read(const std::string& path) const {
  return read_all(root_ / path);
}

bool Sandbox::exists(const std::string& path) const {
  return fs::exists(fs::symlink_status(root_ / path));
}

Collecting::Collecting(const Sandbox& sandbox, const std::vector<std::string>& words,
                       const fs::path& folder, const std::string& input,
                       const std::vector<std::string>& environment) {
  static std::atomic<int> counter{0};
  folder_ = sandbox.root() / "streams" / std::to_string(counter++);
  fs::create_directories(folder_);
  std::ofstream(folder_ / "in", std::ios::binary) << input;
  const fs::path current = folder.empty() ? sandbox.project() : folder;
  std::vector<std::string> arguments = {sandbox.program(), "collect"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  // Of two equal names the first is used, so the test's own variables come first.
  std::vector<std::string> variables = environment;
  variables.push_back("XDG_CACHE_HOME=" + sandbox.cache().string());
  variables.push_back("PATH=" + sandbox.root().string() + "/path:/usr/bin:/bin");
  const auto argument_pointers = pointers(arguments);
  const auto variable_pointers = pointers(variables);
  pid_ = ::fork();
  if (pid_ == 0) {
    redirect(folder_ / "in", O_RDONLY, STDIN_FILENO);
    redirect(folder_ / "out", O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    redirect(folder_ / "err", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    if (::chdir(current.c_str()) != 0) ::_exit(125);
    ::execve(argument_pointers[0], argument_pointers.data(), variable_pointers.data());
    ::_exit(125);
  }
}

Collecting::~Collecting() {
  if (waited_) return;
  ::kill(pid_, SIGKILL);
  wait();
}

void Collecting::signal(int number) const {
  ::kill(pid_, number);
}

Finished Collecting::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  waited_ = true;
  Finished finished;
  if (WIFEXITED(status)) finished.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
  finished.out = read_all(folder_ / "out");
  finished.err = read_all(folder_ / "err");
  return finished;
}

std::string Collecting::err() const {
  return read_all(folder_ / "err");
}

Finished collect(const Sandbox& sandbox, const std::vector<std::string>& words,
                 const fs::path& folder, const std::string& input,
                 const std::vector<std::string>& environment) {
  return Collecting(sandbox, words, folder, input, environment).wait();
}

std::map<std::string, std::string> snapshot(const fs::path& folder) {
  std::map<std::string, std::string> result;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    struct stat status = {};
    ::lstat(entry.path().c_str(), &status);
    std::ostringstream text;
    text << std::oct << status.st_mode << ' ' << std::dec << status.st_ino << ' ';
    // Skips the times of folders, which change whenever a file arrives in the project.
    if (!S_ISDIR(status.st_mode)) {
      text << status.st_mtim.tv_sec << '.' << status.st_mtim.tv_nsec << ' ';
    }
    if (S_ISREG(status.st_mode)) text << read_all(entry.path());
    if (S_ISLNK(status.st_mode)) text << fs::read_symlink(entry.path()).string();
    result[fs::relative(entry.path().parent_path(), folder) / entry.path().filename()] = text.str();
  }
  return result;
}

bool process_gone(pid_t pid) {
  const std::string stat = read_all(fs::path("/proc") / std::to_string(pid) / "stat");
  const auto at = stat.rfind(')');
  return at == std::string::npos || at + 2 >= stat.size() || stat[at + 2] == 'Z' ||
         stat[at + 2] == 'X';
}

pid_t read_pid(const fs::path& file) {
  return std::stoi(read_all(file));
}

bool nothing_runs_below(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::error_code error;
    const fs::path executable = fs::read_symlink(entry.path() / "exe", error);
    if (!error && executable.string().starts_with(folder.string())) return false;
  }
  return true;
}

bool no_run_is_held(const fs::path& runs) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(runs, error)) {
    if (entry.path().extension() != ".lock") continue;
    const int fd = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    const bool held = ::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    ::close(fd);
    if (held) return false;
  }
  return true;
}

}  // namespace msprof::test
