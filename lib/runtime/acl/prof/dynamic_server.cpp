#include "runtime/acl/prof/dynamic_server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "runtime/engine/blocked_signals.hpp"
#include "runtime/engine/message.hpp"

namespace msprof::acl {
namespace {

using nlohmann::json;

constexpr const char* kStem = "dynamic_profiling_socket_";
constexpr std::size_t kMaxLineBytes = std::size_t{64} * 1024;
constexpr int kProtocol = 1;
constexpr mode_t kSocketMode = 0600;
constexpr int kMaxWaiting = 4;

// Returns the address of a socket in the open folder `folder`. /proc/self/fd keeps the path short
// enough for any folder.
sockaddr_un address_in(int folder, const std::string& name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(folder) + "/" + name;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  return address;
}

// Converts to the general address type of bind() and connect().
const sockaddr* general(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

int stream_socket() {
  return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

// True if the name is a stale socket without a listener.
bool is_left_behind(int folder, const std::string& name) {
  struct stat state = {};
  if (fstatat(folder, name.c_str(), &state, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISSOCK(state.st_mode))
    return false;
  const int probe = stream_socket();
  if (probe < 0) return false;
  const sockaddr_un address = address_in(folder, name);
  const bool is_refused =
      connect(probe, general(address), sizeof address) != 0 && errno == ECONNREFUSED;
  close(probe);
  return is_refused;
}

bool bind_in(int folder, const std::string& name, int fd) {
  // Before bind(), so that the socket never has other permissions.
  if (fchmod(fd, kSocketMode) != 0) return false;
  const sockaddr_un address = address_in(folder, name);
  if (bind(fd, general(address), sizeof address) == 0) return true;
  // A stale socket may be left by a process that had the same id, or by this one before exec.
  if (errno != EADDRINUSE || !is_left_behind(folder, name)) {
    errno = EADDRINUSE;
    return false;
  }
  return unlinkat(folder, name.c_str(), 0) == 0 && bind(fd, general(address), sizeof address) == 0;
}

std::string json_line(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string refusal(const std::string& sentence) {
  return json_line({{"ok", false}, {"error", sentence}});
}

std::string minutes_text(std::chrono::milliseconds time) {
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(time).count();
  return minutes == 1 ? "a minute" : std::to_string(minutes) + " minutes";
}

}  // namespace

std::string socket_home() {
  const char* const home = secure_getenv("HOME");
  if (home != nullptr && home[0] == '/') return home;
  std::array<char, 4096> place;
  passwd entry = {};
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &entry, place.data(), place.size(), &found) != 0 || found == nullptr)
    return "";
  return found->pw_dir == nullptr ? "" : found->pw_dir;
}

DynamicServer::DynamicServer(Commands commands, DynamicLimits limits)
    : commands_(std::move(commands)), limits_(limits) {}

std::unique_ptr<DynamicServer> DynamicServer::open(const std::string& home, Commands commands,
                                                   DynamicLimits limits, std::string& why) {
  std::unique_ptr<DynamicServer> server(new DynamicServer(std::move(commands), limits));
  if (!server->listen_in(home, why)) return nullptr;
  try {
    const runtime::BlockedSignals inherited;
    server->thread_ = std::thread([own = server.get()] { own->serve(); });
  } catch (const std::system_error& error) {
    why = std::string("cannot start its thread: ") + error.what();
    return nullptr;
  }
  return server;
}

bool DynamicServer::listen_in(const std::string& home, std::string& why) {
  const std::string name = kStem + std::to_string(getpid());
  const std::string path = home + "/" + name;
  const int folder = ::open(home.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  wake_ = runtime::HeldDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const int listener = folder < 0 ? -1 : stream_socket();
  listener_ = runtime::HeldDescriptor(listener);
  const bool is_bound = wake_.get() >= 0 && listener >= 0 && bind_in(folder, name, listener);
  if (is_bound) path_ = path;
  const bool is_good = is_bound && listen(listener, kMaxWaiting) == 0;
  if (!is_good) why = path + " cannot be made: " + strerror(errno);
  if (folder >= 0) close(folder);
  return is_good;
}

DynamicServer::~DynamicServer() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    while (write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) {
    }
    thread_.join();
  }
  close_descriptors();
  leave();
}

void DynamicServer::leave() {
  if (!path_.empty()) unlink(path_.c_str());
}

void DynamicServer::close_descriptors() {
  for (runtime::HeldDescriptor* const fd : {&wake_, &listener_, &client_}) fd->close();
}

void DynamicServer::before_fork() {
  mutex_.lock();
}

// If the child kept the descriptors, clients could connect but would get no answer.
void DynamicServer::after_fork(bool child) {
  if (child) close_descriptors();
  mutex_.unlock();
}

void DynamicServer::serve() {
  // If the application has closed the socket, no collector can connect any more.
  while (listener_.get() >= 0) {
    pollfd fds[] = {
        {wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}, {client_.get(), POLLIN, 0}};
    const int count = poll(fds, std::size(fds), wait_ms());
    if (count < 0 && errno != EINTR) break;
    if (count > 0 && fds[0].revents != 0) break;
    try {
      if (count > 0 && fds[2].revents != 0) read_client();
      if (count > 0 && fds[1].revents != 0) take_client();
      if (client_.get() >= 0 && Clock::now() >= idle_end_) {
        end_recording();
        send_line(refusal("no command came for " + minutes_text(limits_.idle) +
                          ": the application disconnected from the collector"));
        end_client();
      }
    } catch (const std::exception& error) {
      // Out of memory: the client is disconnected, the application continues.
      runtime::say(std::string("disconnected from the collector: ") + error.what());
      end_client();
    }
  }
  end_client();
}

int DynamicServer::wait_ms() const {
  if (client_.get() < 0) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(idle_end_ - Clock::now()).count();
  return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left, 0));
}

void DynamicServer::take_client() {
  int fd = -1;
  bool is_second = false;
  {
    const std::lock_guard lock(mutex_);
    fd = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    is_second = fd >= 0 && client_.get() >= 0;
    if (fd >= 0 && !is_second) client_ = runtime::HeldDescriptor(fd);
  }
  if (fd < 0) {
    // If, for example, no descriptor is free, the connection stays pending: pause before retrying.
    if (errno != EAGAIN && errno != ECONNABORTED)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return;
  }
  ucred peer = {};
  socklen_t size = sizeof peer;
  const bool is_known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  std::string why;
  if (!is_known || peer.uid != geteuid())
    why = "the application belongs to another user";
  else if (is_second)
    why = "process " + std::to_string(client_process_) +
          " is already its collector: only one at a time is allowed";
  if (is_second) {
    const std::string line = refusal(why);
    send(fd, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
    return;
  }
  idle_end_ = Clock::now() + limits_.idle;
  if (!why.empty()) {
    send_line(refusal(why));
    return end_client();
  }
  client_process_ = peer.pid;
  send_line(json_line({{"ok", true}, {"protocol", kProtocol}, {"pid", getpid()}}));
}

void DynamicServer::read_client() {
  std::array<char, 4096> part;
  const ssize_t got = recv(client_.get(), part.data(), part.size(), 0);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) return end_client();
  unread_.append(part.data(), static_cast<std::size_t>(got));
  for (auto end = unread_.find('\n'); end != std::string::npos && client_.get() >= 0;
       end = unread_.find('\n')) {
    const std::string line = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    if (line.size() > kMaxLineBytes) return refuse_long_line();
    answer_line(line);
  }
  if (unread_.size() > kMaxLineBytes) refuse_long_line();
}

void DynamicServer::refuse_long_line() {
  send_line(refusal("a line has more than 64 KiB"));
  end_client();
}

void DynamicServer::answer_line(const std::string& line) {
  idle_end_ = Clock::now() + limits_.idle;
  const json request = json::parse(line, nullptr, false);
  if (!request.is_object()) return answer({false, "the line is not a JSON object"});
  const auto command = request.find("command");
  const std::string word =
      command != request.end() && command->is_string() ? command->get<std::string>() : "";
  if (word == "start") {
    const auto config = request.find("config");
    if (config == request.end() || !config->is_object())
      return answer({false, "\"start\" needs \"config\", a JSON object"});
    on_start(config->dump(-1, ' ', false, json::error_handler_t::replace));
  } else if (word == "stop") {
    const DynamicResult result = commands_.stop();
    is_recording_ = false;
    answer(result);
  } else if (word == "quit") {
    on_quit();
  } else {
    answer({false, R"("command" must be "start", "stop" or "quit")"});
  }
}

void DynamicServer::on_start(const std::string& config) {
  if (starts_ >= limits_.starts)
    return answer({false, "the application has been recorded " + std::to_string(starts_) +
                              " times, the maximum for a process"});
  const DynamicResult result = commands_.start(config);
  if (result.is_good) {
    ++starts_;
    is_recording_ = true;
  }
  answer(result);
}

// Ends the recording and answers with its folder.
void DynamicServer::on_quit() {
  DynamicResult result{true, ""};
  if (is_recording_) result = commands_.stop();
  is_recording_ = false;
  answer(result);
  end_client();
}

void DynamicServer::answer(const DynamicResult& result) {
  if (!result.is_good) return send_line(refusal(result.text));
  json object = {{"ok", true}};
  if (!result.text.empty()) object["folder"] = result.text;
  send_line(json_line(object));
}

// A client that does not read its answer is disconnected.
void DynamicServer::send_line(const std::string& line) {
  const int client = client_.get();
  if (client < 0) return;
  const ssize_t sent = send(client, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent != static_cast<ssize_t>(line.size())) end_client();
}

void DynamicServer::end_recording() {
  if (!is_recording_) return;
  is_recording_ = false;
  commands_.stop();
}

void DynamicServer::end_client() {
  end_recording();
  unread_.clear();
  const std::lock_guard lock(mutex_);
  client_.close();
}

}  // namespace msprof::acl
