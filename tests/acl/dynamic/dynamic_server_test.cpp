// The socket that accepts start, stop and quit: its answers and its allowed clients.
#include "runtime/acl/prof/dynamic_server.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "acl/dynamic/dynamic_socket.hpp"
#include "support/eventually.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

using msprof::acl::DynamicLimits;
using msprof::acl::DynamicResult;
using msprof::acl::DynamicServer;
using msprof::test::contains;
using msprof::test::dynamic_socket;
using msprof::test::eventually;
using msprof::test::TempFolder;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

sockaddr_un make_address(const fs::path& socket) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  socket.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
  return address;
}

// A connection that implements the protocol by hand.
class Line {
 public:
  explicit Line(const fs::path& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un address = make_address(path);
    is_open_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Line() { hang_up(); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  bool is_open() const { return is_open_; }
  void hang_up() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  bool send(const std::string& text) const {
    return ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  // Returns the next line; null at the end of the connection.
  json next() {
    for (;;) {
      const auto end = unread_.find('\n');
      if (end != std::string::npos) {
        const json answer = json::parse(unread_.substr(0, end), nullptr, false);
        unread_.erase(0, end + 1);
        return answer;
      }
      char part[4096];
      const ssize_t got = ::recv(fd_, part, sizeof part, 0);
      if (got <= 0) return nullptr;
      unread_.append(part, static_cast<std::size_t>(got));
    }
  }
  json ask(const std::string& text) {
    send(text + "\n");
    return next();
  }

 private:
  int fd_;
  bool is_open_ = false;
  std::string unread_;
};

const std::string kStart = R"({"command":"start","config":{"result_dir":"/x"}})";
const std::string kStop = R"({"command":"stop"})";
const std::string kQuit = R"({"command":"quit"})";

// A server whose commands only count calls.
struct Scene {
  explicit Scene(DynamicLimits limits = {}) {
    server = DynamicServer::open(
        home.path().string(),
        {[this](const std::string& config) {
           last_config = config;
           return DynamicResult{true, "folder " + std::to_string(++starts)};
         },
         [this] {
           const int number = ++stops;
           return starts >= number ? DynamicResult{true, "folder " + std::to_string(number)}
                                   : DynamicResult{false, "nothing to stop"};
         }},
        limits, why);
  }
  fs::path path() const { return dynamic_socket(home.path(), getpid()); }

  TempFolder home;
  std::string why;
  std::atomic<int> starts{0};
  std::atomic<int> stops{0};
  std::string last_config;
  std::unique_ptr<DynamicServer> server;
};

// Also connects and reads the greeting.
struct GreetedScene {
  GreetedScene() { REQUIRE(line.next().value("ok", false)); }

  Scene scene;
  Line line{scene.path()};
};

std::string error_text(const json& answer) {
  return answer.is_object() && answer.value("ok", true) == false ? answer.value("error", "") : "";
}

}  // namespace

TEST_CASE("only the user can access the socket, which is removed with the server") {
  Scene scene;
  REQUIRE(scene.server != nullptr);
  struct stat state = {};
  REQUIRE(::stat(scene.path().c_str(), &state) == 0);
  CHECK(S_ISSOCK(state.st_mode));
  CHECK((state.st_mode & 0777) == 0600);
  scene.server.reset();
  CHECK_FALSE(fs::exists(scene.path()));
}

TEST_CASE("start, stop and quit are answered with folders") {
  Scene scene;
  Line line(scene.path());
  const json greeting = line.next();
  CHECK(greeting["ok"] == true);
  CHECK(greeting["protocol"] == 1);
  CHECK(greeting["pid"] == getpid());
  CHECK(line.ask(kStart) == json({{"ok", true}, {"folder", "folder 1"}}));
  CHECK(json::parse(scene.last_config)["result_dir"] == "/x");
  CHECK(line.ask(kStop) == json({{"ok", true}, {"folder", "folder 1"}}));
  CHECK(error_text(line.ask(kStop)) == "nothing to stop");
  CHECK(line.ask(kQuit) == json({{"ok", true}}));
  CHECK(line.next().is_null());
}

TEST_CASE_METHOD(GreetedScene, "quit stops a recording and returns its folder") {
  line.ask(kStart);
  CHECK(line.ask(kQuit) == json({{"ok", true}, {"folder", "folder 1"}}));
  CHECK(scene.stops == 1);
}

TEST_CASE_METHOD(GreetedScene, "invalid commands get an error, and the next one is handled") {
  CHECK(error_text(line.ask("{broken")) == "the line is not a JSON object");
  CHECK(error_text(line.ask("[1]")) == "the line is not a JSON object");
  CHECK(error_text(line.ask("")) == "the line is not a JSON object");
  CHECK(
      contains(error_text(line.ask(R"({"command":"begin"})")), "\"start\", \"stop\" or \"quit\""));
  CHECK(contains(error_text(line.ask(R"({"command":7})")), "\"start\", \"stop\" or \"quit\""));
  CHECK(contains(error_text(line.ask(R"({"command":"start"})")), "\"config\""));
  CHECK(contains(error_text(line.ask(R"({"command":"start","config":[]})")), "\"config\""));
  CHECK(scene.starts == 0);
  CHECK(line.ask(kStart)["ok"] == true);
}

TEST_CASE_METHOD(GreetedScene, "a line can arrive in chunks, and several lines at once") {
  line.send(kStart.substr(0, 10));
  line.send(kStart.substr(10) + "\n" + kStop + "\n" + kStart + "\n");
  CHECK(line.next()["folder"] == "folder 1");
  CHECK(line.next()["folder"] == "folder 1");
  CHECK(line.next()["folder"] == "folder 2");
}

TEST_CASE("a line beyond 64 KiB ends the connection") {
  Scene scene;
  for (const bool has_end : {false, true}) {
    INFO(has_end);
    Line line(scene.path());
    REQUIRE(line.next()["ok"] == true);
    line.send(std::string(64 * 1024 + 1, ' ') + (has_end ? "\n" : ""));
    CHECK(contains(error_text(line.next()), "64 KiB"));
    CHECK(line.next().is_null());
  }
  Line next(scene.path());
  CHECK(next.next()["ok"] == true);
}

TEST_CASE("a second collector is informed about the first") {
  Scene scene;
  Line first(scene.path());
  REQUIRE(first.next()["ok"] == true);
  Line second(scene.path());
  CHECK(contains(error_text(second.next()), "process " + std::to_string(getpid())));
  CHECK(second.next().is_null());
  CHECK(first.ask(kStart)["ok"] == true);
  first.hang_up();
  CHECK(eventually([&] { return Line(scene.path()).next().value("ok", false); }));
}

TEST_CASE_METHOD(GreetedScene, "a collector that disconnects stops its recording") {
  line.ask(kStart);
  line.hang_up();
  CHECK(eventually([&] { return scene.stops == 1; }));
  Line idle(scene.path());
  CHECK(eventually([&] { return Line(scene.path()).is_open(); }));
  idle.hang_up();
  scene.server.reset();
  CHECK(scene.stops == 1);
}

TEST_CASE_METHOD(GreetedScene, "the end of the server ends the recording") {
  line.ask(kStart);
  scene.server.reset();
  CHECK(scene.stops == 1);
  CHECK(line.next().is_null());
}

TEST_CASE("a silent collector is disconnected, and its recording is complete") {
  // If this machine is slower than the limit, the server gives up before the start: try a longer
  // limit.
  bool has_started = false;
  for (const int idle_ms : {200, 2000, 20'000, 200'000}) {
    DynamicLimits limits;
    limits.idle = std::chrono::milliseconds(idle_ms);
    Scene scene(limits);
    Line line(scene.path());
    line.next();
    has_started = line.ask(kStart).value("ok", false);
    if (!has_started) continue;
    CHECK(contains(error_text(line.next()), "no command came"));
    CHECK(line.next().is_null());
    CHECK(scene.stops == 1);
    break;
  }
  CHECK(has_started);
}

TEST_CASE("a process can be recorded a hundred times, by any collector") {
  Scene scene;
  for (int i = 0; i < 100; i += 50) {
    Line line(scene.path());
    REQUIRE(line.next().value("ok", false));
    for (int n = 0; n < 50; ++n) {
      REQUIRE(line.ask(kStart)["ok"] == true);
      REQUIRE(line.ask(kStop)["ok"] == true);
    }
    line.ask(kQuit);
    line.next();
  }
  Line line(scene.path());
  line.next();
  CHECK(contains(error_text(line.ask(kStart)), "100 times"));
  CHECK(scene.starts == 100);
}

TEST_CASE("only a socket without a server is replaced") {
  TempFolder home;
  const fs::path path = dynamic_socket(home.path(), getpid());
  const auto open = [&](std::string& why) {
    return DynamicServer::open(home.path().string(), {}, {}, why);
  };
  {
    // Creates a socket file that is never removed.
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const sockaddr_un address = make_address(path);
    REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    ::close(fd);
  }
  std::string why;
  auto server = open(why);
  INFO(why);
  REQUIRE(server != nullptr);
  SECTION("one that is served stays") {
    CHECK(open(why) == nullptr);
    CHECK(contains(why, path.string()));
    CHECK(Line(path).next()["ok"] == true);
  }
  SECTION("a file of that name stays") {
    server.reset();
    msprof::test::write_file(path, "mine");
    CHECK(open(why) == nullptr);
    CHECK(msprof::test::read_file(path) == "mine");
  }
}

TEST_CASE("a missing home folder is an error") {
  std::string why;
  CHECK(DynamicServer::open("/nowhere", {}, {}, why) == nullptr);
  CHECK(contains(why, "/nowhere"));
  CHECK(contains(why, "No such file"));
}

TEST_CASE("a home folder with a long name also has a socket") {
  TempFolder folder;
  const fs::path home = folder / std::string(150, 'h');
  fs::create_directories(home);
  std::string why;
  const auto server = DynamicServer::open(home.string(), {}, {}, why);
  INFO(why);
  REQUIRE(server != nullptr);
  CHECK(fs::exists(dynamic_socket(home, getpid())));
}

TEST_CASE_METHOD(GreetedScene, "a forked child serves no collector and removes no socket") {
  scene.server->before_fork();
  const pid_t child = ::fork();
  scene.server->after_fork(child == 0);
  if (child == 0) {
    // Waits until the parent has finished with the connection.
    line.next();
    ::pause();
    ::_exit(0);
  }
  scene.server.reset();
  // The child inherited the connection, which must not keep it open.
  CHECK(line.next().is_null());
  CHECK_FALSE(Line(scene.path()).is_open());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}
