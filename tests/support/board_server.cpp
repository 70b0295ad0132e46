#include "support/board_server.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "support/eventually.hpp"
#include "support/files.hpp"
#include "support/run_program.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

const char* kind_name(BoardKind kind) {
  switch (kind) {
    case BoardKind::openssh:
      return "openssh";
    case BoardKind::openssh_without_sftp:
      return "openssh_without_sftp";
    case BoardKind::dropbear:
      return "dropbear";
  }
  return "";
}

std::string server_name(BoardKind kind) {
  return kind == BoardKind::dropbear ? "dropbear" : "sshd";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += word + " ";
  return text;
}

// Runs a tool of this machine, which must succeed; returns its stdout.
std::string run_tool(const std::vector<std::string>& words, const RunOptions& options = {}) {
  const RunResult result = run_program("/usr/bin/env", words, options);
  if (result.exit_code != 0) throw std::runtime_error(joined(words) + "failed: " + result.err);
  return result.out;
}

void wait_a_moment() {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

// Runs in the child between fork() and exec(). The server becomes the subreaper of its descendants,
// so that it remains an ancestor of daemons.
void become_server(const char* log, pid_t parent, char* const* words, char* const* variables) {
  ::setsid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int in = ::open("/dev/null", O_RDONLY);
  const int out = ::open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (in < 0 || out < 0 || ::getppid() != parent) ::_exit(126);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD}) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(words[0], words, variables);
  ::_exit(127);
}

}  // namespace

BoardServer::BoardServer(const BoardOptions& options)
    : options_(options), home_(options.home.empty() ? folder_ / "home" : options.home) {
  std::string logins;
  if (options_.password_login) logins += "password ";
  if (options_.key_login) logins += "key ";
  run_tool(
      {BOARD_MAKER, folder_.path().string()},
      {.variables = {{"BOARD_KIND", kind_name(options_.kind)},
                     {"BOARD_USERLAND", options_.userland == Userland::gnu ? "gnu" : "busybox"},
                     {"BOARD_WITHOUT", joined(options_.without)},
                     {"BOARD_HOME", home_.string()},
                     {"BOARD_PASSWORD", options_.password},
                     {"BOARD_LOGINS", logins.empty() ? "none" : logins},
                     {"BOARD_GREETING", options_.greeting},
                     {"BOARD_BANNER", options_.banner},
                     {"BOARD_SHELL", options_.login_shell}}});
  make_client();
  remember_host_key();
  start();
}

BoardServer::~BoardServer() {
  stop();
}

void BoardServer::make_client() const {
  fs::create_directories(known_hosts().parent_path());
  fs::permissions(known_hosts().parent_path(), fs::perms::owner_all);
  run_tool({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "client", "-f", client_key()});
  if (options_.key_login) {
    write_file(folder_ / "etc/authorized_keys", read_file(client_key().string() + ".pub"));
  }
}

void BoardServer::remember_host_key() const {
  write_file(known_hosts(), "[" + host() + "]:" + std::to_string(port()) + " " +
                                read_file(folder_ / "etc/host_key.pub"));
}

std::string BoardServer::address() const {
  return user() + "@" + host() + ":" + std::to_string(port());
}

std::string BoardServer::ini(std::string_view more) const {
  return "[ssh_config]\nip = " + host() + "\nusername = " + user() + "\npwd = " + password() +
         "\nport = " + std::to_string(port()) + "\nconnect_timeout = " + kAmple + "\n" +
         std::string(more);
}

void BoardServer::replace_tool(const std::string& name, const std::string& script) {
  const fs::path tool = tools() / name;
  fs::remove(tool);
  write_file(tool, "#!/bin/sh\n" + script + "\n");
  fs::permissions(tool, fs::perms::owner_all);
}

std::vector<std::pair<std::string, std::string>> BoardServer::client_variables() const {
  return {{"HOME", client_home().string()}, {"SSH_AUTH_SOCK", ""}};
}

std::string BoardServer::host_key_fingerprint() const {
  const std::string line = run_tool({"ssh-keygen", "-l", "-f", folder_ / "etc/host_key.pub"});
  const auto begin = line.find(' ') + 1;
  return line.substr(begin, line.find(' ', begin) - begin);
}

void BoardServer::forget_host_key() const {
  fs::remove(known_hosts());
}

void BoardServer::change_host_key() {
  stop();
  run_tool({BOARD_MAKER, "host-key", folder_.path().string()});
  start();
}

void BoardServer::start() {
  if (server_ != 0) throw std::logic_error("the board runs already");
  // A separate environment: the server inherits none of the test's variables.
  std::vector<std::string> words = {BOARD_MAKER, "serve", folder_.path().string(),
                                    std::to_string(port())};
  std::string path = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
  char* variables[] = {path.data(), nullptr};
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::string log = folder_ / "log";
  const pid_t parent = ::getpid();
  server_ = ::fork();
  if (server_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (server_ == 0) become_server(log.c_str(), parent, pointers.data(), variables);
  wait_until_it_listens();
}

void BoardServer::wait_until_it_listens() {
  const HangDeadline deadline;
  while (!somebody_listens(port())) {
    int status = 0;
    const bool ended = ::waitpid(server_, &status, WNOHANG) == server_;
    if (ended) server_ = 0;
    if (ended || deadline.is_over()) {
      stop();
      throw std::runtime_error("the board's server does not listen: " + log());
    }
    wait_a_moment();
  }
}

void BoardServer::stop() {
  if (server_ == 0) return;
  // A stopped server starts no new processes while its descendants are killed.
  ::kill(server_, SIGSTOP);
  for (;;) {
    const auto left = all_processes();
    if (left.empty()) break;
    for (const auto& process : left) ::kill(process.pid, SIGKILL);
    wait_a_moment();
  }
  ::kill(server_, SIGKILL);
  while (::waitpid(server_, nullptr, 0) < 0 && errno == EINTR) {
  }
  server_ = 0;
}

void BoardServer::drop_connections() const {
  for (const auto& process : all_processes()) {
    if (process.is_server) ::kill(process.pid, SIGKILL);
  }
}

std::vector<BoardProcess> BoardServer::all_processes() const {
  return find_board_processes(server_, server_name(options_.kind),
                              "MSPROF_TEST_BOARD=" + folder_.path().string());
}

std::vector<BoardProcess> BoardServer::processes() const {
  auto result = all_processes();
  std::erase_if(result, [](const BoardProcess& process) { return process.is_server; });
  return result;
}

std::string BoardServer::log() const {
  return fs::exists(folder_ / "log") ? read_file(folder_ / "log") : "";
}

std::string describe(const std::vector<BoardProcess>& processes) {
  std::string text;
  for (const auto& process : processes) {
    text += std::to_string(process.pid) + " " + process.command + "\n";
  }
  return text;
}

}  // namespace msprof::test
