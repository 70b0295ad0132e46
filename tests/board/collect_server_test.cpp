// Runs on servers with CANN: applications run in place with the environment of a login shell, and
// their PROF folders are fetched. Replacements for CANN and the vendor's collector record how they
// were started.
#include <signal.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "board/server_fixture.hpp"
#include "support/ssh_client.hpp"

namespace msprof::test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

TEST_CASE("An application on a server runs in place, and its PROF folder is fetched") {
  const auto kind = each_kind();
  ServerScene scene({.kind = kind});
  scene.add_cann();
  const RunResult result =
      scene.collect("infer", {"--remote-dir", "app", "--msproftx", "on", "--env", "MINE=1 2"},
                    {"--images", "a b"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.out == "out of it\n");
  CHECK(scene.arrived() == Words{kProf});
  CHECK(read_file(scene.user.output() / kProf / "host/data/slice") == "bytes\n");
  CHECK(contains(result.err, "process 4711 of infer"));
  CHECK(contains(result.err, "the vendor's msprof is not on PATH on board@127.0.0.1"));
  CHECK(contains(result.err, (scene.home() / "cann/lib64/libascendcl.so").string()));

  CHECK(scene.argv() == Words{(scene.home() / "app/infer").string(), "--images", "a b"});
  CHECK(scene.lines("cwd") == Words{(scene.home() / "app").string()});
  CHECK(scene.variable("MINE") == "1 2");
  CHECK(scene.variable("MSPROF_ACL_JSON").empty());
  CHECK(scene.variable("LD_LIBRARY_PATH") == (scene.home() / "cann/lib64").string());
  CHECK(scene.variable("PATH").starts_with((scene.home() / "bin").string()));
  const Json config = Json::parse(scene.variable("PROFILER_SAMPLECONFIG"));
  CHECK(config.at("msproftx") == "on");
  CHECK(config.at("app") == (scene.home() / "app/infer").string());
  CHECK(config.at("result_dir")
            .get<std::string>()
            .starts_with((scene.home() / "msprof/runs").string()));
  // Nothing was copied to the server.
  CHECK_FALSE(fs::exists(scene.home() / "msprof/cache"));
  CHECK(names_in(scene.home() / "app") == Words{"infer"});
  CHECK(scene.litter() == "");
}

TEST_CASE("An application is searched in the folder, then on PATH, and scripts get python3") {
  ServerScene scene;
  scene.add_cann();
  scene.add_script("bin/python3", ServerScene::recording_script("$result"));
  scene.add_script("bin/elsewhere", ServerScene::recording_script("$result"));
  write_file(scene.home() / "app/detect.py", "import acl\n");
  const std::string app = (scene.home() / "app").string();
  const std::string bin = (scene.home() / "bin").string();

  CHECK(scene.collect("elsewhere", {}).exit_code == 0);
  CHECK(scene.argv() == Words{bin + "/elsewhere"});
  CHECK(scene.lines("cwd") == Words{scene.home().string()});
  CHECK(scene.collect("app/infer", {}).exit_code == 0);
  CHECK(scene.argv() == Words{app + "/infer"});
  CHECK(scene.collect(app + "/infer", {"--remote-dir", "/tmp"}).exit_code == 0);
  CHECK(scene.lines("cwd") == Words{"/tmp"});
  CHECK(scene.collect("detect.py", {"--remote-dir", app}, {"x.jpg"}).exit_code == 0);
  CHECK(scene.argv() == Words{bin + "/python3", "detect.py", "x.jpg"});
  CHECK(scene.collect("python3", {"--remote-dir", app}, {"detect.py"}).exit_code == 0);
  CHECK(scene.argv() == Words{bin + "/python3", "detect.py"});

  struct Missing {
    std::string main;
    std::string folder;
    std::string why;
  };
  for (const Missing& one : {Missing{"nothing", "app", "no program of that name on PATH"},
                             Missing{"./nothing", "app", "no such file: " + app + "/./nothing"},
                             Missing{"infer", "nowhere", "there is no folder nowhere"},
                             Missing{".profile", ".", "is not executable"}}) {
    const RunResult result = scene.collect(one.main, {"--remote-dir", one.folder});
    INFO(result.err);
    CHECK(result.exit_code == 4);
    CHECK(contains(result.err, "cannot run '" + one.main + "' on board@127.0.0.1"));
    CHECK(contains(result.err, one.why));
  }
  CHECK(scene.litter() == "");
}

TEST_CASE("The vendor's msprof on a server runs the application with the same options") {
  ServerScene scene;
  scene.add_cann();
  const std::string answer =
      GENERATE("echo 'Ascend msprof 8.0'", "echo msprof 8.0", "echo msprof 8.2.1",
               "echo 'unrecognized option' >&2", "echo msprof 1.2.3 of somebody");
  scene.add_script("bin/msprof",
                   "[ \"$MSPROF_INNER\" = 1 ] || exit 9\n[ \"$1\" != --version ] || { " + answer +
                       "; exit; }\n" + ServerScene::recording_script("${1#--output=}"));
  const RunResult result =
      scene.collect("infer", {"--remote-dir", "app", "--task-time", "l1"}, {"--images", "3"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "collected by the vendor's"));
  CHECK(scene.arrived() == Words{kProf});
  const Words argv = scene.argv();
  REQUIRE(argv.size() == 6);
  CHECK(argv[0] == (scene.home() / "bin/msprof").string());
  CHECK(argv[1].starts_with("--output=" + (scene.home() / "msprof/runs").string()));
  CHECK(argv[2] == "--task-time=l1");
  CHECK(argv[3] == (scene.home() / "app/infer").string());
  CHECK(argv[4] == "--images");
  CHECK(argv[5] == "3");
  CHECK(scene.variable("PROFILER_SAMPLECONFIG").empty());
  CHECK(scene.litter() == "");
}

TEST_CASE("The last line of the vendor's msprof, with a temporary folder, is not printed") {
  ServerScene scene;
  scene.add_script("bin/msprof",
                   "[ \"$1\" != --version ] || { echo msprof: bad option; exit 1; }\n"
                   "echo '[INFO] Process profiling data complete. Data is saved in /x/PROF_1'\n"
                   "printf '[INFO] Profiling finished.\\n[INF'\n" +
                       ServerScene::recording_script("${1#--output=}"));
  const RunResult result = scene.collect("infer", {"--remote-dir", "app"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.out == "[INFO] Profiling finished.\n[INFout of it\n");
}

TEST_CASE("An msprof on a server that does not answer in time is assumed to be the vendor's") {
  ServerScene scene;
  scene.wait_for_answers("0.2");
  scene.add_script("bin/msprof", "[ \"$1\" != --version ] || { echo msprof 1.0; sleep 1000; }\n" +
                                     ServerScene::recording_script("${1#--output=}"));
  const RunResult result = scene.collect("infer", {"--remote-dir", "app"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "collected by the vendor's"));
  CHECK(scene.litter() == "");
}

TEST_CASE(
    "Our own msprof on a server is not taken for the vendor's, even twice or behind a script") {
  ServerScene scene;
  scene.add_cann();
  fs::create_directories(scene.home() / "bin");
  fs::create_symlink(msprof_path(), scene.home() / "bin/msprof");
  scene.add_script("other/msprof", "exec '" + std::string(msprof_path()) + "' \"$@\"\n");
  scene.profile(
      "PATH=$HOME/other:$PATH:$HOME/bin\nexport LD_LIBRARY_PATH=/none:$HOME/cann/lib64\n");
  const RunResult result = scene.collect("infer", {"--remote-dir", "app"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "the vendor's msprof is not on PATH"));

  const RunResult wanted = scene.collect("infer", {"--remote-dir", "app", "--runtime", "vendor"});
  CHECK(wanted.exit_code == 4);
  CHECK(contains(wanted.err, "the vendor's msprof is not on PATH on board@127.0.0.1"));
  CHECK(scene.litter() == "");
}

TEST_CASE("--dynamic without the vendor's msprof on the server is refused before a run") {
  ServerScene scene;
  scene.add_cann();
  const RunResult result = scene.collect("infer", {"--remote-dir", "app", "--dynamic", "on"});
  INFO(result.err);
  CHECK(result.exit_code == 2);
  CHECK(contains(result.err, "run msprof --dynamic there"));
  CHECK_FALSE(fs::exists(scene.home() / "argv"));
  CHECK(scene.litter() == "");
}

TEST_CASE("A framework with its own profiler needs no vendor's msprof on a server") {
  ServerScene scene;
  scene.add_cann();
  scene.add_script("bin/msprof", "echo vendor\n");
  const RunResult result = scene.collect("infer", {"--remote-dir", "app", "--framework", "tf"});
  INFO(result.err);
  CHECK(contains(result.err, "cann/lib64/libascendcl.so"));
  CHECK(scene.variable("PROFILING_MODE") == "true");
  const Json options = Json::parse(scene.variable("PROFILING_OPTIONS"));
  CHECK(contains(options.at("output").get<std::string>(), "/msprof/runs/"));
  CHECK(scene.variable("PROFILER_SAMPLECONFIG").empty());
  CHECK(scene.litter() == "");
}

TEST_CASE("Without a runtime on a server a remedy is printed") {
  ServerScene scene;
  const RunResult result = scene.collect("infer", {"--remote-dir", "app"});
  INFO(result.err);
  CHECK(result.exit_code == 4);
  CHECK(contains(result.err, "install the complete msprof"));
  CHECK_FALSE(fs::exists(scene.home() / "argv"));
  CHECK(scene.litter() == "");
}

TEST_CASE("Low disk space on a server causes a warning with the option for another disk") {
  ServerScene scene;
  scene.add_cann();
  scene.board.replace_tool("df", "echo header; echo disk 9000000 1 5000000 1% /");
  const RunResult result = scene.collect("infer", {"--remote-dir", "app"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "GB free for the raw data"));
  CHECK(contains(result.err, "to use another disk, add --board-dir DIR"));
  const RunResult left =
      scene.collect("infer", {"--remote-dir", "app", "--leave", "--remote-output", "x"});
  CHECK(contains(left.err, "to use another disk, add --remote-output DIR"));
}

TEST_CASE("--upload runs a copy of the project on the server") {
  ServerScene scene;
  scene.add_cann();
  write_file(scene.user.project() / "infer",
             "#!/bin/sh\n" + ServerScene::recording_script("$result") + "echo made >new.txt\n");
  fs::permissions(scene.user.project() / "infer", fs::perms::owner_all);
  scene.user.remember_project();
  const RunResult result =
      scene.collect("infer", {"--upload", "--project", scene.user.project().string()}, {"x"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(scene.arrived() == Words{kProf, std::string(kProf) + ".files"});
  CHECK(read_file(scene.user.output() / (std::string(kProf) + ".files") / "new.txt") == "made\n");
  CHECK(names_in(scene.user.output() / (std::string(kProf) + ".files")) == Words{"new.txt"});
  const Words argv = scene.argv();
  REQUIRE(argv.size() == 2);
  CHECK(argv[0].starts_with((scene.home() / "msprof/runs").string()));
  CHECK(argv[0].ends_with("/tree/project/infer"));
  CHECK(scene.variable("MSPROF_ACL_JSON").empty());
  CHECK(names_in(scene.home() / "msprof/cache").size() == 1);
  CHECK(scene.litter() == "");
}

TEST_CASE("Msprof waits for the run folder if the board is slow to create it") {
  ServerScene scene;
  scene.add_cann();
  scene.board.replace_tool("mkdir", "[ \"$1\" != -- ] || sleep 1\nexec /bin/mkdir \"$@\"");
  write_file(scene.user.project() / "infer",
             "#!/bin/sh\n" + ServerScene::recording_script("$result"));
  fs::permissions(scene.user.project() / "infer", fs::perms::owner_all);
  scene.user.remember_project();
  const RunResult result =
      scene.collect("infer", {"--upload", "--project", scene.user.project().string()});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(scene.arrived() == Words{kProf});
  CHECK(scene.litter() == "");
}

TEST_CASE("--leave keeps the raw data on the server and prints its path") {
  ServerScene scene;
  scene.add_cann();
  const RunResult kept = scene.collect("infer", {"--remote-dir", "app", "--leave", "--json"});
  INFO(kept.err);
  CHECK(kept.exit_code == 0);
  CHECK(scene.arrived().empty());
  const auto runs = names_in(scene.home() / "msprof/kept");
  REQUIRE(runs.size() == 1);
  const fs::path place = scene.home() / "msprof/kept" / runs.front() / kProf;
  CHECK(read_file(place / "host/data/slice") == "bytes\n");
  CHECK(contains(kept.err, "left on board@127.0.0.1"));
  CHECK(contains(kept.err, place.string()));
  CHECK(contains(kept.err, "scp "));
  const Json document = Json::parse(kept.out);
  REQUIRE(document.at("left").size() == 1);
  CHECK(document.at("left").at(0).at("place") == place.string());
  CHECK(document.at("left").at(0).at("has_data") == true);
  CHECK(document.at("captures").empty());
  CHECK(scene.litter(1) == "");
  const Json record = Json::parse(read_file(place / "run.json"));
  CHECK(record.at("schema") == "msprof.run/1");
  CHECK(record.at("host").get<std::string>().starts_with("board@127.0.0.1"));
  CHECK(record.at("command").at(0) == "infer");
  CHECK(record.at("options").at("--leave") == "true");
  CHECK(record.at("application").at("exit_code") == 0);
  CHECK(names_in(place) == Words{"host", "run.json"});

  const Words options = {"--remote-dir", "app", "--leave", "--remote-output", "big disk/runs"};
  for (int i = 0; i < 2; ++i) {
    const RunResult named = scene.collect("infer", options);
    INFO(named.err);
    CHECK(named.exit_code == 0);
    CHECK(contains(named.err, (scene.home() / "big disk/runs" / kProf).string()));
  }
  CHECK(names_in(scene.home() / "big disk/runs") == Words{kProf, std::string(kProf) + "~2"});
  CHECK(Json::parse(scene.variable("PROFILER_SAMPLECONFIG")).at("result_dir") !=
        (scene.home() / "big disk/runs").string());
  CHECK(scene.arrived().empty());
  CHECK(scene.litter(1) == "");
}

TEST_CASE("Msprof on the server imports the raw data kept there, and its verdict is shown") {
  ServerScene scene;
  scene.add_cann();
  const std::string code = GENERATE("0", "3");
  scene.add_script("bin/msprof",
                   "[ \"$1\" != --version ] || { echo msprof 1.2.3; exit; }\n"
                   "echo \"$*\" >>\"$HOME/asked\"\n"
                   "case $1 in\n"
                   "import) mkdir -p \"$3/sqlite\"; echo db >\"$3/sqlite/msprof.db\"; "
                   "echo 'verdict: complete' >&2; exit " +
                       code +
                       " ;;\n"
                       "export) mkdir \"$4/products\"; echo table >\"$4/products/t.csv\" ;;\n"
                       "esac\n");
  const RunResult result = scene.collect(
      "infer", {"--remote-dir", "app", "--leave", "--remote-output", "left", "--all"});
  INFO(result.err);
  CHECK(result.exit_code == std::stoi(code));
  CHECK(contains(result.err, "verdict: complete"));
  const std::string place = (scene.home() / "left" / kProf).string();
  CHECK(scene.lines("asked") == Words{"import -dir " + place, "export all -dir " + place});
  const std::string products = std::string(kProf) + ".products";
  CHECK(scene.arrived() == Words{products});
  CHECK(names_in(scene.user.output() / products) == Words{"products"});
  CHECK(read_file(scene.user.output() / products / "products/t.csv") == "table\n");
  CHECK(scene.litter() == "");
}

TEST_CASE("Ctrl-C stops an endless application, and its recording is imported on the server") {
  ServerScene scene;
  scene.add_cann();
  scene.add_script("app/endless", ServerScene::recording_script("$result") +
                                      ": >\"$HOME/ready\"\nexec sleep 1000\n");
  scene.add_script("bin/msprof",
                   "[ \"$1\" != --version ] || { echo msprof 1.2.3; exit; }\n"
                   "echo \"$*\" >>\"$HOME/asked\"\n");
  const Words words = {"collect",     "-m",
                       "app/endless", "--cann",
                       "--config",    scene.user.ini().string(),
                       "--output",    scene.user.output().string(),
                       "--leave",     "--remote-output",
                       "left"};
  RunningProgram run(msprof_path(), words, scene.user.run_options());
  REQUIRE(eventually([&] { return fs::exists(scene.home() / "ready") || run.has_ended(); }));
  run.send(SIGINT);
  CHECK(run.wait().exit_code == 130);
  CHECK(names_in(scene.home() / "left") == Words{kProf});
  const Json record = Json::parse(read_file(scene.home() / "left" / kProf / "run.json"));
  CHECK(record.at("application").at("ended_by") == "user");
  CHECK(record.at("exit_code") == 130);
  CHECK(scene.lines("asked") == Words{"import -dir " + (scene.home() / "left" / kProf).string()});
  CHECK(scene.litter() == "");
}

TEST_CASE("A server keeps the recording of a lost run, also on another disk") {
  ServerScene scene;
  scene.add_cann();
  scene.add_script("app/long", ServerScene::recording_script("$result") +
                                   ": >\"$HOME/ready\"\n"
                                   "exec sleep 1000\n");
  Words words = {"collect",
                 "-m",
                 "long",
                 "--cann",
                 "--config",
                 scene.user.ini().string(),
                 "--output",
                 scene.user.output().string(),
                 "--remote-dir",
                 "app",
                 "--leave",
                 "--remote-output",
                 "disk",
                 "--reconnect",
                 "1"};
  RunningProgram lost(msprof_path(), words, scene.user.run_options());
  REQUIRE(eventually([&] { return fs::exists(scene.home() / "ready") || lost.has_ended(); }));
  shorten_wait_for_lost_run(scene.board);
  lost.send(SIGKILL);
  CHECK(lost.wait().signal == SIGKILL);
  // The next run removes msprof's own files on this machine.
  CHECK(litter_on(scene.board, 1) == "");
  const fs::path kept = scene.home() / "msprof/kept";
  CHECK(read_file(kept / names_in(kept).front() / kProf / "host/data/slice") == "bytes\n");
}

// The command given in docs/servers.md for recordings kept on a server.
TEST_CASE("sftp -a continues a partially downloaded recording") {
  ServerScene scene;
  const std::string whole = big_bytes(3 << 20);
  write_file(scene.home() / "msprof/kept/run" / kProf / "host/data/slice", whole);
  const TempFolder here;
  const std::string part = "p" + whole.substr(1, 2 << 20);
  write_file(here / "run" / kProf / "host/data/slice", part);
  const SshClient client{scene.board.client_home()};
  Words words = {"sftp", "-a", "-r"};
  for (const std::string& word : client.options()) words.push_back(word);
  for (const std::string& word : {std::string("-i"), scene.board.client_key().string(),
                                  std::string("-P"), std::to_string(scene.board.port()),
                                  std::string("board@127.0.0.1:msprof/kept/run"), std::string(".")})
    words.push_back(word);
  const RunResult result = run_program(
      "/usr/bin/env", words, {.folder = here.path(), .variables = scene.board.client_variables()});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK((read_file(here / "run" / kProf / "host/data/slice") == part + whole.substr(part.size())));
}

TEST_CASE("Conflicting server options, and server options for boards, are usage errors") {
  ServerScene scene;
  struct Wrong {
    Words options;
    std::string sentence;
  };
  for (const Wrong& one : {
           Wrong{{"--cann", "--upload", "--no-upload"},
                 "--upload and --no-upload cannot be combined"},
           Wrong{{"--cann", "--upload", "--remote-dir", "app"}, "give only one"},
           Wrong{{"--cann", "--remote-output", "x"}, "--remote-output needs --leave"},
           Wrong{{"--cann", "--leave", "--keep"}, "--leave and --keep cannot be combined"},
           Wrong{{"--cann", "--leave", "--clean-board"},
                 "--clean-board would delete the data kept by --leave"},
           Wrong{{"--cann", "--project", "."}, "--project is for applications on SVP boards"},
           Wrong{{"--leave"}, "--leave is for CANN servers: add --cann"},
           Wrong{{"--upload"}, "--upload is for CANN servers"},
           Wrong{{"--msproftx", "on"}, "--msproftx is for applications on CANN: add --cann"},
       }) {
    const RunResult result = scene.user.collect(one.options, {});
    INFO(result.err);
    CHECK(result.exit_code == 2);
    CHECK(contains(result.err, one.sentence));
  }
  CHECK(scene.board.connections() == 0);
}

}  // namespace msprof::test
