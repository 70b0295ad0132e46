#include "collect/cann/dynamic_client.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.hpp"
#include "base/folder_listing.hpp"
#include "base/text.hpp"
#include "collect/cann/runtime_choice.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kStem = "dynamic_profiling_socket_";
constexpr int kProtocol = 1;
constexpr std::size_t kMaxLineBytes = std::size_t{64} * 1024;
constexpr std::size_t kMaxProcBytes = 4 << 20;
// A stop may take long: it writes the data still in memory. A suspended application never answers.
constexpr int kAnswerMs = 60'000;
constexpr int kGreetingMs = 5'000;

[[noreturn]] void refuse_request(const std::string& sentence) {
  throw Error(Exit::nothing_to_do, sentence);
}

fs::path proc_folder(pid_t process) {
  return fs::path("/proc") / std::to_string(process);
}

// Returns the contents of a file in /proc, whose size is not known in advance; empty if it cannot
// be read.
std::string proc_text(pid_t process, const char* file) {
  std::ifstream stream(proc_folder(process) / file, std::ios::binary);
  std::string text(kMaxProcBytes, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

// Returns the value that the variable had when the process started; nullopt if it was not set.
std::optional<std::string> read_variable(pid_t process, std::string_view name) {
  const std::string all = proc_text(process, "environ");
  for (const std::string_view entry : split(all, '\0')) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return std::string(entry.substr(name.size() + 1));
  }
  return std::nullopt;
}

fs::path find_home(pid_t process) {
  if (const auto home = read_variable(process, "HOME"); home && home->starts_with('/'))
    return *home;
  const char* const own = std::getenv("HOME");
  return own == nullptr ? "/" : own;
}

// Returns 0 or an errno value.
int connect_to(const fs::path& path, int fd) {
  // Connects through /proc/self/fd, so that the socket path is short whatever the folder.
  const FileDescriptor folder(::open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return errno;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string name =
      fmt::format("/proc/self/fd/{}/{}", folder.get(), path.filename().string());
  name.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int result = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  return result == 0 ? 0 : errno;
}

}  // namespace

void check_process(pid_t process) {
  struct stat state = {};
  if (process <= 0 || ::stat(proc_folder(process).c_str(), &state) != 0)
    refuse_request(fmt::format("no process {}", process));
  if (state.st_uid != ::geteuid())
    refuse_request(
        fmt::format("{} belongs to another user: run msprof as that user", process_name(process)));
}

std::string process_name(pid_t process) {
  // Prefers the command line: the kernel's name (comm) has at most 15 bytes.
  const std::string command = proc_text(process, "cmdline");
  std::string name = printable(fs::path(command.substr(0, command.find('\0'))).filename().string());
  if (name.empty()) name = printable(trim(proc_text(process, "comm")));
  return name.empty() ? fmt::format("process {}", process)
                      : fmt::format("process {} ({})", process, name);
}

bool has_host_runtime(pid_t process) {
  const std::string maps = proc_text(process, "maps");
  std::string_view last;
  for (const std::string_view line : split(maps, '\n')) {
    const auto at = line.find('/');
    if (at == std::string_view::npos || line.substr(at) == last) continue;
    last = line.substr(at);
    if (fs::path(last).filename().string().starts_with("libascendcl.so"))
      return is_host_runtime_library(last);
  }
  return false;
}

std::vector<pid_t> find_dynamic_processes(const fs::path& home, pid_t key) {
  std::vector<pid_t> processes;
  for (const std::string& name : list_names(home)) {
    const auto number = name.starts_with(kStem)
                            ? parse_i64(std::string_view(name).substr(kStem.size()))
                            : std::nullopt;
    if (!number || *number <= 0 || *number > INT32_MAX) continue;
    const auto process = static_cast<pid_t>(*number);
    if (read_variable(process, "DYNAMIC_PROFILING_KEY_PID") == std::to_string(key))
      processes.push_back(process);
  }
  std::sort(processes.begin(), processes.end());
  return processes;
}

DynamicClient::DynamicClient(pid_t process) : process_(process) {
  check_process(process);
  name_ = process_name(process);
  path_ = find_home(process) / fmt::format("{}{}", kStem, process);
  connect();
}

DynamicClient::~DynamicClient() {
  if (!socket_) return;
  socket_.reset();
  // The socket of a killed process remains, and containers may reuse its pid. Connecting shows
  // whether a process listens.
  const FileDescriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (probe && connect_to(path_, probe.get()) == ECONNREFUSED) ::unlink(path_.c_str());
}

void DynamicClient::connect() {
  socket_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket_) throw Error(Exit::internal_error, errno_text(errno));
  const int error = connect_to(path_, socket_.get());
  if (error == ENOENT || error == ECONNREFUSED) {
    socket_.reset();
    if (read_variable(process_, "PROFILING_MODE") == "dynamic")
      refuse_request(
          fmt::format("{} has not called aclInit yet, which creates its socket {}: try again later",
                      name_, printable(path_.string())));
    refuse_request(
        fmt::format("{} was not started with PROFILING_MODE=dynamic: start it with that variable, "
                    "or with msprof collect --cann --dynamic on -m …",
                    name_));
  }
  if (error != 0)
    refuse_request(fmt::format("cannot connect to {} at {}: {}", name_, printable(path_.string()),
                               errno_text(error)));
  std::string line;
  const std::string unknown = fmt::format(
      "{} does not use the host runtime's protocol: for an application with CANN, the vendor's "
      "msprof must be on PATH",
      name_);
  if (!receive(kGreetingMs, line)) refuse_request(unknown);
  const auto greeting = nlohmann::json::parse(line, nullptr, false);
  if (!greeting.is_object() || !greeting.contains("ok")) refuse_request(unknown);
  if (greeting["ok"] != true)
    refuse_request(fmt::format("{} refuses: {}", name_, parse(line).text));
  if (!greeting.contains("protocol") || greeting["protocol"] != kProtocol)
    refuse_request(
        fmt::format("{} uses the host runtime of another msprof release: use that msprof", name_));
}

// Waits for a complete line; returns false at the end of the connection, and on timeout.
bool DynamicClient::receive(int limit_ms, std::string& line) {
  const auto until = Clock::now() + std::chrono::milliseconds(limit_ms);
  for (;;) {
    const auto end = unread_.find('\n');
    if (end != std::string::npos) {
      line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return true;
    }
    if (has_ended_) return false;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd fd = {socket_.get(), POLLIN, 0};
    const int count = ::poll(&fd, 1, left > 0 ? static_cast<int>(left) : 0);
    if (count == 0) return false;
    if (count < 0 && errno == EINTR) continue;
    std::array<char, 4096> part;
    const ssize_t got = ::recv(socket_.get(), part.data(), part.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    has_ended_ = got <= 0 || unread_.size() > kMaxLineBytes;
    if (got > 0) unread_.append(part.data(), static_cast<std::size_t>(got));
  }
}

DynamicAnswer DynamicClient::parse(const std::string& line) const {
  const auto answer = nlohmann::json::parse(line, nullptr, false);
  const auto text = [&](const char* key) -> std::string {
    const auto found = answer.is_object() ? answer.find(key) : answer.end();
    return found != answer.end() && found->is_string() ? found->get<std::string>() : "";
  };
  const bool is_good = answer.is_object() && answer.contains("ok") && answer["ok"] == true;
  if (is_good) return {true, text("folder")};
  const std::string why = printable(text("error"));
  return {false, why.empty() ? "cannot parse its answer" : why};
}

bool DynamicClient::is_there(std::string& said) {
  std::string line;
  while (receive(0, line)) said = parse(line).text;
  return !has_ended_;
}

DynamicAnswer DynamicClient::ask(const std::string& line) {
  std::string before;
  if (!is_there(before)) return {false, before.empty() ? "it has ended" : before};
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t sent =
        ::send(socket_.get(), line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return {false, "it has ended"};
    done += static_cast<std::size_t>(sent);
  }
  std::string answer;
  if (receive(kAnswerMs, answer)) return parse(answer);
  if (has_ended_) return {false, "it has ended"};
  // Stop here: a late answer would be mistaken for the answer to the next command.
  has_ended_ = true;
  return {false, fmt::format("it has not answered for {} s", kAnswerMs / 1000)};
}

DynamicAnswer DynamicClient::start(const std::string& config) {
  const std::string line = fmt::format("{{\"command\":\"start\",\"config\":{}}}\n", config);
  if (line.size() > kMaxLineBytes) return {false, "the parameters are larger than 64 KiB"};
  return ask(line);
}

DynamicAnswer DynamicClient::stop() {
  return ask("{\"command\":\"stop\"}\n");
}

DynamicAnswer DynamicClient::quit() {
  return ask("{\"command\":\"quit\"}\n");
}

}  // namespace msprof
