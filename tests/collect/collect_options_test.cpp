// Rules for collect's options, and how they are passed to the application.
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "collect/collect_fixture.hpp"

using namespace msprof::test;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

namespace {

constexpr const char* kPassword = "hunter2-s3cret";
const std::string kVariable = std::string("MSPROF_SSH_PASSWORD=") + kPassword;

// A local port without a listener.
constexpr const char* kNobody = "root@127.0.0.1:1";

}  // namespace

TEST_CASE("board options without a board are usage errors with a remedy") {
  const DemoProject demo;
  for (const Words& option :
       {Words{"--key", "id"}, Words{"--host-key", "off"}, Words{"--password-stdin"},
        Words{"--board-dir", "/x"}, Words{"--connect-timeout", "3"}, Words{"--reconnect", "3"},
        Words{"--keep"}, Words{"--no-cache"}, Words{"--clean-board"}, Words{"--force"},
        Words{"--no-upload", "--remote-dir", "/x"}}) {
    Words words = {"-m", "main"};
    words.insert(words.end(), option.begin(), option.end());
    const Finished run = collect(demo, words);
    INFO(run.err);
    CHECK(run.exit_code == 2);
    CHECK(contains(run.err, option.front()));
    CHECK(contains(run.err, "--config FILE or --host user@ip"));
  }
  CHECK(is_empty_or_missing(demo.runs()));
}

TEST_CASE("an application on CANN is not run as a board application, wherever it is given") {
  const DemoProject demo;
  demo.write("project/main", "#!/usr/bin/env python3\nimport acl\nopen('ran', 'w')\n");
  demo.write("board.ini", "[ssh_config]\nip = 127.0.0.1\nusername = root\nport = 1\n");
  const std::string project = demo.project().string();
  const Finished run = collect(demo, {"-m", "main", "--project", project}, demo.root());
  INFO(run.err);
  CHECK(run.exit_code == 2);
  CHECK(contains(run.err, "main loads libascendcl"));
  CHECK(contains(run.err, "--cann"));
  CHECK(is_empty_or_missing(demo.runs()));
  const Finished forced =
      collect(demo, {"-m", "main", "--project", project, "--dialect", "svp"}, demo.root());
  INFO(forced.err);
  CHECK(forced.exit_code == 7);
  CHECK(contains(forced.err, "likely causes:\n  - main loads libascendcl"));
}

TEST_CASE("conflicting options and invalid values are usage errors") {
  const DemoProject demo;
  demo.write("project/board.ini", "[ssh_config]\nip = 127.0.0.1\nusername = root\nport = 1\n");
  demo.write("project/half.ini", "[ssh_config]\npwd = x\n");
  const auto usage = [&](const Words& options, const std::string& part) {
    Words words = {"-m", "main"};
    words.insert(words.end(), options.begin(), options.end());
    const Finished run = collect(demo, words, {}, "\n");
    INFO(run.err);
    CHECK(run.exit_code == 2);
    CHECK(contains(run.err, part));
  };
  usage({"--config", "board.ini", "--no-upload"}, "--remote-dir");
  usage({"--config", "board.ini", "--remote-dir", "/x"}, "--no-upload");
  usage({"--config", "board.ini", "--remote-dir", "/\x01", "--no-upload"}, "control");
  usage({"--config", "board.ini", "--remote-dir", "/x", "--no-upload", "--project", "."},
        "--project");
  usage({"--config", "board.ini", "--keep", "--clean-board"}, "cannot be combined");
  usage({"--config", "board.ini", "--reconnect", "-1"}, "--reconnect");
  usage({"--config", "board.ini", "--reconnect", "nan"}, "--reconnect");
  usage({"--config", "board.ini", "--connect-timeout", "0"}, "--connect-timeout");
  usage({"--config", "board.ini", "--host-key", "maybe"}, "accept-new");
  usage({"--config", "board.ini", "--board-dir", "/a/../b"}, "--board-dir");
  usage({"--config", "board.ini", "--host", "root@"}, "--host");
  usage({"--config", "board.ini", "--password-stdin"}, "--password-stdin");
  usage({"--config", "half.ini"}, "half.ini");
  usage({"--config", "half.ini", "--host", "10.0.0.1"}, "account");
  usage({"--config", "acl.json"}, "[ssh_config]");
  usage({"--host", "10.0.0.1"}, "account");
  usage({"--config", ""}, "empty");
  usage({"--config", "board.ini", "--config", "./board.ini"}, "twice");
}

TEST_CASE("missing login files are reported before connecting") {
  const DemoProject demo;
  const Finished config = collect(demo, {"-m", "main", "--config", "no.ini"});
  CHECK(config.exit_code == 4);
  CHECK(contains(config.err, "cannot read no.ini"));
  const Finished key = collect(demo, {"-m", "main", "--host", kNobody, "--key", "no_id"});
  CHECK(key.exit_code == 4);
  CHECK(contains(key.err, (demo.project() / "no_id").string()));
}

TEST_CASE("-m is required, except for cleaning a board") {
  const DemoProject demo;
  const auto usage = [&](const Words& words, const std::string& part) {
    const Finished run = collect(demo, words);
    INFO(run.err);
    CHECK(run.exit_code == 2);
    CHECK(contains(run.err, part));
  };
  usage({"--all"}, "--main");
  usage({"--host", kNobody}, "--main");
  usage({"--host", kNobody, "--clean-board", "--all"}, "--main");
  usage({"--host", kNobody, "--clean-board", "--", "x"}, "--main");
  // The command is accepted: it tries to connect to the board, which does not exist.
  CHECK(collect(demo, {"--host", kNobody, "--clean-board"}).exit_code == 6);
}

TEST_CASE("the command line overrides the file") {
  const DemoProject demo;
  const std::string board =
      std::string("[ssh_config]\nip = 127.0.0.2\nusername = me\nport = 9\npwd = ") + kPassword;
  demo.write("project/board.ini", board);
  const Finished run =
      collect(demo, {"-m", "main", "--json", "--config", "board.ini", "--host", kNobody});
  INFO(run.err);
  CHECK(run.exit_code == 6);
  const Json document = Json::parse(run.out);
  CHECK(document.at("schema") == "msprof.collect/2");
  CHECK(document.at("host") == kNobody);
  CHECK(contains(document.at("error").get<std::string>(), kNobody));
  CHECK_FALSE(contains(run.out + run.err, kPassword));

  demo.write("project/board.ini", board + "\nkey = in_the_file\n");
  const Finished key = collect(demo, {"-m", "main", "--config", "board.ini", "--key", "given"});
  CHECK(contains(key.err, (demo.project() / "given").string()));
  CHECK_FALSE(contains(key.err, "in_the_file"));
}

TEST_CASE("--env sets variables of the application; the last value of a name counts") {
  const DemoProject demo;
  const Finished run =
      collect(demo,
              {"-m", "main", "--env", "A=1", "--env", "B_2=x=y, z", "--env", "A=2",
               "--env=C=", "--", "env", "A", "env", "B_2", "env", "C", "env", "KEPT"},
              {}, "", {"KEPT=here"});
  CHECK(contains(run.out, "2\nx=y, z\n\nhere\n"));
}

TEST_CASE("--env without NAME=VALUE is a usage error that does not show the value") {
  const DemoProject demo;
  for (const char* variable : {"hunter2", "=hunter2", "2A=hunter2", "A-B=hunter2", "A B=hunter2",
                               "MSPROF_SSH_PASSWORD=hunter2"}) {
    const Finished run = collect(demo, {"-m", "main", "--env", variable});
    INFO(run.err);
    CHECK(run.exit_code == 2);
    CHECK(contains(run.err, "--env"));
    CHECK_FALSE(contains(run.err, "hunter2"));
  }
}

TEST_CASE("--env LD_LIBRARY_PATH is added after the libraries of the copy") {
  const DemoProject demo;
  demo.write("project/lib/libx.so", "x");
  const Finished run = collect(
      demo, {"-m", "main", "--env", "LD_LIBRARY_PATH=/mine", "--", "env", "LD_LIBRARY_PATH"});
  CHECK(contains(run.out, "/tree/project/lib:/mine\n"));
}

TEST_CASE("an application on this machine never sees the board's password") {
  const DemoProject demo;
  const Finished run =
      collect(demo, {"-m", "main", "--", "env", "MSPROF_SSH_PASSWORD"}, {}, "", {kVariable});
  CHECK(contains(run.out, "(unset)\n"));
  CHECK_FALSE(contains(run.out + run.err, kPassword));
}

TEST_CASE("the processes of a run do not show the password either") {
  const DemoProject demo;
  const std::string ready = (demo.root() / "ready").string();
  Collecting collecting(demo, {"-m", "main", "--", "ready", ready, "hang"}, {}, "", {kVariable});
  REQUIRE(eventually([&] { return demo.exists("ready"); }));
  int looked_at = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "environ", std::ios::binary);
    std::ostringstream environment;
    environment << file.rdbuf();
    // Selects processes with this test's cache folder.
    if (!contains(environment.str(), demo.cache().string())) continue;
    ++looked_at;
    CHECK_FALSE(contains(environment.str(), kPassword));
  }
  CHECK(looked_at == 3);  // msprof, its watcher, the application
  collecting.signal(SIGINT);
  collecting.wait();
}

TEST_CASE("the document of a local run has its host and the number of copied files") {
  const DemoProject demo;
  const Finished run = collect(demo, {"-m", "main", "--json", "--", "job", kJob});
  const Json document = Json::parse(run.out);
  CHECK(document.at("host") == "this machine");
  CHECK_FALSE(document.contains("board"));
  for (const Json& step : document.at("steps")) {
    if (step.at("name") == "copy") CHECK(step.at("files").get<int>() >= 3);
  }
}

TEST_CASE("help starts with a board example, and --help-board lists every board option") {
  const DemoProject demo;
  CHECK(collect(demo, {"--help"})
            .out.starts_with("Examples:\n  msprof collect -m main --config board.ini --all "));
  const Finished run = collect(demo, {"--help-board"});
  CHECK(run.exit_code == 0);
  for (const char* option :
       {"--config FILE", "--host USER@IP[:PORT]", "--key FILE", "--host-key", "--password-stdin",
        "--board-dir DIR", "--connect-timeout S", "--reconnect S", "--keep", "--no-cache",
        "--clean-board", "--no-upload", "--remote-dir DIR", "--force"}) {
    INFO(option);
    CHECK(contains(run.out, option));
  }
}
