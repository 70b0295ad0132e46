// Whole sessions: the real msprof, applications with the host runtime, and typed commands.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "acl/capture.hpp"
#include "acl/dynamic/dynamic_socket.hpp"
#include "support/eventually.hpp"
#include "support/files.hpp"
#include "support/lines.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

// Provides a home, an output folder and a model.
struct SessionScene {
  SessionScene() : model(small_model(folder.path())) { fs::create_directory(home()); }
  ~SessionScene() { end(); }
  SessionScene(const SessionScene&) = delete;
  SessionScene& operator=(const SessionScene&) = delete;

  fs::path home() const { return folder / "home"; }
  fs::path output() const { return folder / "out"; }
  std::string end_file() const { return (folder / "end").string(); }
  // Makes the applications exit.
  void end() const { write_file(end_file(), ""); }
  fs::path socket_path(pid_t process) const { return dynamic_socket(home(), process); }
  // Waits until each running application has executed its model a few more times.
  void wait_for_work() const {
    const auto sizes = [this] {
      std::map<std::string, std::uintmax_t> found;
      for (const std::string& name : names_in(folder.path())) {
        if (!name.starts_with("end.")) continue;
        const auto process = static_cast<pid_t>(std::stol(name.substr(4)));
        if (::kill(process, 0) == 0) found[name] = fs::file_size(folder / name);
      }
      return found;
    };
    auto before = sizes();
    CHECK(eventually([&] {
      const auto now = sizes();
      return !now.empty() && std::all_of(now.begin(), now.end(), [&](const auto& one) {
        return one.second > before[one.first] + 3;
      });
    }));
  }
  std::vector<fs::path> captures() const { return prof_folders(output()); }

  TempFolder folder;
  std::string model;
};

// A running acl_program_service that can be reached.
class Service {
 public:
  explicit Service(const SessionScene& scene, const std::string& mode = "dynamic",
                   bool forks = false)
      : program_(acl_program("service"), arguments(scene, forks),
                 {.variables = {{"HOME", scene.home().string()}, {"PROFILING_MODE", mode}}}) {
    if (mode == "dynamic")
      REQUIRE(eventually([&] { return fs::exists(scene.socket_path(program_.pid())); }));
  }

  pid_t pid() const { return program_.pid(); }
  std::string id() const { return std::to_string(pid()); }
  RunningProgram& program() { return program_; }

 private:
  static std::vector<std::string> arguments(const SessionScene& scene, bool forks) {
    std::vector<std::string> words = {scene.model, scene.end_file()};
    if (forks) words.push_back("fork");
    return words;
  }
  RunningProgram program_;
};

struct WithoutVerb {};

// Runs msprof collect, or msprof itself, with a pipe as stdin. Its messages go to a file that can
// be read during the run (stderr; without a verb, stdout).
class Session {
 public:
  Session(const SessionScene& scene, std::vector<std::string> words,
          std::vector<std::pair<std::string, std::string>> variables = {})
      : pipe_(scene.folder / "typed"), err_(scene.folder / "err") {
    words.insert(words.begin(),
                 {"collect", "--cann", "--dynamic", "on", "--output", scene.output().string()});
    run(scene, words, std::move(variables), "2");
  }
  Session(const SessionScene& scene, WithoutVerb, const std::vector<std::string>& words)
      : pipe_(scene.folder / "typed"), err_(scene.folder / "err") {
    run(scene, words, {}, "1");
  }
  ~Session() { end_input(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void type(const std::string& line) const {
    const std::string text = line + "\n";
    REQUIRE(::write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  void end_input() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  std::string err() const { return fs::exists(err_) ? read_file(err_) : ""; }
  // Waits until it has printed the text `times` times.
  bool says(const std::string& text, std::size_t times = 1) const {
    return eventually([&] { return count_occurrences(err(), text) >= times; });
  }
  // Types start and waits for recorded work; `number` is the number of starts so far.
  void begin(const SessionScene& scene, std::size_t number = 1) const {
    type("start");
    INFO(err());
    REQUIRE(says("recording process ", number));
    scene.wait_for_work();
  }
  // The same, then types stop.
  void record(const SessionScene& scene, std::size_t number) const {
    begin(scene, number);
    type("stop");
    REQUIRE(eventually([&] { return scene.captures().size() >= number; }));
  }
  RunningProgram& program() { return *program_; }
  int exit_code() { return program_->wait().exit_code; }

 private:
  void run(const SessionScene& scene, std::vector<std::string> words,
           std::vector<std::pair<std::string, std::string>> variables, const char* stream) {
    fs::remove(pipe_);
    fs::remove(err_);
    REQUIRE(::mkfifo(pipe_.c_str(), 0600) == 0);
    // Opened for reading and writing, so that open() does not wait for the reader.
    fd_ = ::open(pipe_.c_str(), O_RDWR | O_CLOEXEC);
    words.insert(words.begin(),
                 {"-c", std::string("exec \"$0\" \"$@\" < \"$TYPED\" ") + stream + "> \"$ERR\"",
                  msprof_path()});
    variables.insert(
        variables.end(),
        {{"HOME", scene.home().string()}, {"TYPED", pipe_.string()}, {"ERR", err_.string()}});
    program_ =
        std::make_unique<RunningProgram>("/bin/sh", words, RunOptions{.variables = variables});
  }

  fs::path pipe_;
  fs::path err_;
  int fd_ = -1;
  std::unique_ptr<RunningProgram> program_;
};

// A running application, and a session that records it.
struct RunningService {
  const SessionScene scene;
  Service service{scene};
  Session session{scene, {"--pid", service.id()}};
};

// Imports a folder recorded while a model was executed.
void check_capture(const fs::path& folder) {
  const ImportedCapture capture(folder);
  INFO(folder << "\n" << capture.import().err);
  CHECK(capture.import().exit_code == 0);
  // A stop during an execution omits its last operators.
  CHECK(contains(capture.import().err, "verdict: complete"));
  CHECK(capture.number("SELECT count(*) FROM task WHERE op_id IS NOT NULL") > 0);
}

const std::string kTool = R"(#!/bin/sh
[ "$1" = --version ] && { echo "vendor 1"; exit 0; }
for word; do
  echo "$word" >> "$RECORDED"
  case "$word" in --output=*) out=${word#--output=};; esac
done
while read line; do echo "typed $line" >> "$RECORDED"; done
mkdir -p "$out/PROF_000001_20240101000000000_00000001ABCDEFGH/host/data"
echo x > "$out/PROF_000001_20240101000000000_00000001ABCDEFGH/host/data/x"
)";

}  // namespace

TEST_CASE_METHOD(RunningService,
                 "two starts and stops give two complete folders of a running application") {
  session.record(scene, 1);
  session.record(scene, 2);
  session.type("quit");
  INFO(session.err());
  CHECK(session.exit_code() == 0);
  REQUIRE(scene.captures().size() == 2);
  for (const fs::path& folder : scene.captures()) {
    check_capture(folder);
    CHECK(contains(read_file(folder / "host" / "sample.json"), R"("dynamic":"on")"));
  }
  CHECK(count_occurrences(session.err(), "capture: ") == 2);
  CHECK_FALSE(service.program().has_ended());
  // The session leaves no other files.
  CHECK(names_in(scene.output()).size() == 2);
  scene.end();
  CHECK(service.program().wait().exit_code == 0);
  CHECK_FALSE(fs::exists(scene.socket_path(service.pid())));
}

TEST_CASE("a started application is recorded during the run and does not read the commands") {
  const SessionScene scene;
  Session session(scene, {"--runtime", "host", "-m", acl_program("service"), "--", scene.model,
                          scene.end_file()});
  session.record(scene, 1);
  check_capture(scene.captures().front());
  session.type("start");
  CHECK(session.says("recording process ", 2));
  scene.wait_for_work();
  // The application exits while it is being recorded.
  scene.end();
  INFO(session.err());
  CHECK(session.exit_code() == 0);
  REQUIRE(scene.captures().size() == 2);
  check_capture(scene.captures().back());
  CHECK(names_in(scene.home()).empty());
}

TEST_CASE("options without a verb work with a running application") {
  const SessionScene scene;
  const Service service(scene);
  Session session(scene, WithoutVerb(),
                  {"--dynamic=on", "--pid=" + service.id(), "--output=" + scene.output().string()});
  session.record(scene, 1);
  session.type("stop");
  session.type("quit");
  const RunResult end = session.program().wait();
  const std::string said = session.err();
  INFO(said);
  CHECK(end.exit_code == 0);
  CHECK(end.err.empty());
  // Scripts that type these commands wait for this output.
  for (const char* const line : {"(msprof) ", "\ndynamic profiling start success......\n",
                                 "\ndynamic profiling stop success......\n",
                                 "[WARNING] dynamic profiling has not started......\n",
                                 "\ndynamic profiling quit success......\n"}) {
    CAPTURE(line);
    CHECK(count_occurrences(said, line) >= 1);
  }
  CHECK_FALSE(contains(said, "Data is saved in"));
  REQUIRE(scene.captures().size() == 1);
  // The capture is imported and exported immediately, as by the vendor's tool.
  CHECK(fs::exists(scene.captures().front() / "mindstudio_profiler_output"));
}

TEST_CASE_METHOD(RunningService,
                 "end of input means quit, with the folder of the current recording") {
  session.begin(scene);
  session.end_input();
  INFO(session.err());
  CHECK(session.exit_code() == 0);
  REQUIRE(scene.captures().size() == 1);
  check_capture(scene.captures().front());
}

TEST_CASE_METHOD(RunningService,
                 "Ctrl-C stops the recording and quits; the application continues") {
  session.begin(scene);
  session.program().send(SIGINT);
  INFO(session.err());
  CHECK(session.exit_code() == 130);
  REQUIRE(scene.captures().size() == 1);
  check_capture(scene.captures().front());
  CHECK_FALSE(service.program().has_ended());
}

TEST_CASE("a killed session leaves the application complete and ready for the next one") {
  const SessionScene scene;
  const Service service(scene);
  {
    Session session(scene, {"--pid", service.id()});
    session.begin(scene);
    session.program().send(SIGKILL);
    session.program().wait();
  }
  // The capture has no final name yet: after the kill, it is still in its temporary folder.
  CHECK(scene.captures().empty());
  fs::path folder;
  for (const auto& entry : fs::recursive_directory_iterator(scene.output())) {
    if (entry.path().filename().string().starts_with("PROF_")) folder = entry.path();
  }
  REQUIRE_FALSE(folder.empty());
  REQUIRE(eventually([&] { return fs::exists(folder / "host" / "end_info"); }));
  check_capture(folder);
  Session next(scene, {"--pid", service.id()});
  next.record(scene, 1);
  next.type("quit");
  INFO(next.err());
  CHECK(next.exit_code() == 0);
  check_capture(scene.captures().front());
}

TEST_CASE_METHOD(RunningService,
                 "an application killed during recording ends the session with its folder") {
  session.begin(scene);
  service.program().send(SIGKILL);
  service.program().wait();
  const int code = session.exit_code();
  INFO(session.err());
  CHECK(code == 0);
  CHECK(contains(session.err(), "has ended"));
  CHECK(scene.captures().size() == 1);
}

TEST_CASE_METHOD(RunningService, "invalid commands get an error, and the session continues") {
  session.type("strat");
  session.type("bogus");
  session.type("stop");
  session.type("help");
  session.type("");
  session.type(" start ");
  session.begin(scene);
  session.type("quit");
  CHECK(session.exit_code() == 0);
  const std::string err = session.err();
  INFO(err);
  CHECK(contains(err, "unknown command 'strat'; did you mean start"));
  CHECK(contains(err, "unknown command 'bogus'; enter start, stop, quit or help"));
  CHECK(contains(err, "not recording: enter start first"));
  CHECK(contains(err, "quit: stop recording and leave the application running"));
  CHECK(contains(err, "already recording: enter stop first"));
  CHECK(scene.captures().size() == 1);
}

TEST_CASE("several applications are recorded at once, a folder each") {
  const SessionScene scene;
  const Service one(scene);
  const Service two(scene);
  Session session(scene, {"--pid", one.id() + "," + two.id()});
  session.begin(scene, 2);
  session.type("quit");
  INFO(session.err());
  CHECK(session.exit_code() == 0);
  REQUIRE(scene.captures().size() == 2);
  for (const fs::path& folder : scene.captures()) check_capture(folder);
}

TEST_CASE("a child made by fork keeps no session open") {
  const SessionScene scene;
  Service service(scene, "dynamic", true);
  Session session(scene, {"--pid", service.id()});
  session.record(scene, 1);
  // The parent was killed; the child is still running.
  service.program().send(SIGKILL);
  service.program().wait();
  INFO(session.err());
  CHECK(session.exit_code() == 0);
  CHECK(contains(session.err(), "has ended"));
}

TEST_CASE("a process that cannot be reached is refused with one message") {
  const SessionScene scene;
  const auto refused = [&](const std::string& process, const std::string& sentence) {
    const RunResult result = run_msprof({"collect", "--cann", "--dynamic", "on", "--pid", process,
                                         "--output", scene.output().string()},
                                        {.variables = {{"HOME", scene.home().string()}}});
    INFO(result.err);
    CHECK(result.exit_code == 4);
    CHECK(contains(result.err, sentence));
    CHECK(count_occurrences(result.err, "\n") == 1);
  };
  refused("999999999", "no process 999999999");
  const Service plain(scene, "");
  refused(plain.id(), "was not started with PROFILING_MODE=dynamic");
  if (::geteuid() != 0) refused("1", "belongs to another user");
  const Service busy(scene);
  Session session(scene, {"--pid", busy.id()});
  session.type("start");
  REQUIRE(session.says("recording process "));
  refused(busy.id(), "is already its collector");
}

TEST_CASE("a process allows at most a hundred recordings") {
  const SessionScene scene;
  const Service service(scene);
  Session session(scene, {"--pid", service.id(), "--ai-core", "off"});
  for (int i = 0; i < 101; ++i) {
    session.type("start");
    session.type("stop");
  }
  session.type("quit");
  // The exit code reports refused commands, too.
  CHECK(session.exit_code() == 3);
  CHECK(contains(session.err(), "100 times, the maximum"));
  CHECK(scene.captures().size() == 100);
}

TEST_CASE_METHOD(RunningService, "without a start command nothing is recorded, with a message") {
  session.type("quit");
  CHECK(session.exit_code() == 4);
  CHECK(contains(session.err(), "nothing was recorded: start was not entered"));
}

TEST_CASE("options that conflict with running applications are usage errors") {
  const SessionScene scene;
  const auto wrong = [](const std::vector<std::string>& words, const std::string& sentence) {
    std::vector<std::string> all = {"collect", "--cann"};
    all.insert(all.end(), words.begin(), words.end());
    const RunResult result = run_msprof(all);
    INFO(result.err);
    CHECK(result.exit_code == 2);
    CHECK(contains(result.err, sentence));
  };
  wrong({"--pid", "1"}, "--pid needs --dynamic=on");
  wrong({"--dynamic", "on"}, "-m,--main FILE is required");
  wrong({"--dynamic", "on", "--pid", "x"}, "--pid");
  wrong({"--dynamic", "on", "--pid", "1", "-m", "app"}, "remove the application to start");
  wrong({"--dynamic", "on", "--pid", "1", "--timeout", "3"}, "they cannot be used with --pid");
  wrong({"--dynamic", "on", "--pid", "1", "--delay", "3"}, "cannot be combined");
  wrong({"--dynamic", "on", "--pid", "1", "--host", "board"}, "local processes");
  wrong({"--dynamic", "on", "--pid", std::to_string(::getpid()), "--runtime", "host",
         "--sys-profiling", "on"},
        "needs the driver of a card");
}

TEST_CASE("options and input are passed on to the vendor's msprof") {
  const SessionScene scene;
  const fs::path tools = scene.folder / "tools";
  fs::create_directory(tools);
  write_file(tools / "msprof", kTool);
  fs::permissions(tools / "msprof", fs::perms::owner_all);
  const std::string recorded = (scene.folder / "recorded").string();
  const Service plain(scene, "");
  const std::vector<std::pair<std::string, std::string>> variables = {
      {"PATH", tools.string() + ":/usr/bin:/bin"}, {"RECORDED", recorded}};
  SECTION("for an application that runs") {
    Session session(scene, {"--runtime", "vendor", "--pid", plain.id()}, variables);
    session.type("start");
    session.type("quit");
    REQUIRE(eventually([&] { return fs::exists(recorded); }));
    session.end_input();
    INFO(session.err());
    CHECK(session.exit_code() == 0);
    const std::string text = read_file(recorded);
    INFO(text);
    CHECK(contains(text, "--dynamic=on\n"));
    CHECK(contains(text, "--pid=" + plain.id() + "\n"));
    CHECK(contains(text, "typed start\ntyped quit\n"));
    CHECK_FALSE(contains(text, "/msprof\n"));
  }
  SECTION("for one that is started") {
    Session session(scene, {"--runtime", "vendor", "-m", "/bin/true"}, variables);
    session.type("stop");
    REQUIRE(eventually([&] { return fs::exists(recorded); }));
    session.end_input();
    INFO(session.err());
    CHECK(session.exit_code() == 0);
    const std::string text = read_file(recorded);
    INFO(text);
    CHECK(contains(text, "--dynamic=on\n"));
    CHECK(contains(text, "/true\ntyped stop\n"));
  }
  CHECK(scene.captures().size() == 1);
}
