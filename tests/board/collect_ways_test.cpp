// Successful runs on boards of every kind: the fetched files, the application's view, the output,
// and the data left on the board.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "board/collect_views.hpp"
#include "support/files.hpp"

namespace msprof::test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

struct Way {
  std::string name;
  BoardOptions board;
  std::string info;  // part of the message about the board's tools
};

std::vector<Way> ways() {
  return {
      {"OpenSSH", {}, ", tar, SFTP"},
      {"OpenSSH without SFTP", {.kind = BoardKind::openssh_without_sftp}, ", tar, no SFTP"},
      {"OpenSSH without tar", {.without = {"tar"}}, ", no tar, SFTP"},
      {"dropbear", {.kind = BoardKind::dropbear}, ", tar, no SFTP"},
      {"dropbear without tar",
       {.kind = BoardKind::dropbear, .without = {"tar"}},
       ", no tar, no SFTP"},
      {"OpenSSH with few tools",
       {.kind = BoardKind::openssh_without_sftp,
        .without = {"tar", "stat", "setsid", "od", "du", "cmp", "awk", "sed", "xargs"}},
       ", no tar, no SFTP"},
      {"GNU userland", {.userland = Userland::gnu}, ", tar, SFTP"},
      {"a greeting before every command",
       {.kind = BoardKind::dropbear, .greeting = "Welcome to the board!\nHave a nice day."},
       ", tar, no SFTP"},
      {"a banner before the login", {.banner = "Private board, keep out.\n"}, ", tar, SFTP"},
  };
}

// Files of many sizes, including an empty one and one larger than any buffer.
const Words kRich = {"job",
                     kBoardJob,
                     "big",
                     "aicore.1",
                     "3000001",
                     "many",
                     "slice",
                     "40",
                     "done",
                     "whole",
                     "16",
                     "write",
                     "JOB/data/empty",
                     "",
                     "write",
                     "made/new.txt",
                     "made",
                     "write",
                     "models/m.om",
                     "changed",
                     "remove",
                     "models/gone.om",
                     "say",
                     "to out",
                     "complain",
                     "to err"};

}  // namespace

TEST_CASE("Every kind of board delivers all files and keeps only its copy of the project") {
  const Way way = GENERATE_COPY(from_range(sample_for_case(ways(), 4)));
  INFO(way.name);
  BoardScene scene(way.board);
  write_file(scene.user.project() / "models/gone.om", "to be deleted");
  scene.user.remember_project();
  const RunResult run = scene.user.collect({}, kRich);
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(run.out == "to out\n");
  CHECK(contains(run.err, "to err\n"));
  CHECK(contains(run.err, way.info));
  CHECK(contains(run.err, "main exited with code 0"));
  const Contents expected = capture_without_msprof(scene.user, kRich);
  REQUIRE(expected.size() > 45);
  Contents arrived = read_contents(scene.user.output() / kBoardJob);
  CHECK(arrived.erase("run.json") == 1);  // written by the local msprof
  CHECK(differences(arrived, expected) == "");
  const fs::path files = scene.user.output() / (std::string(kBoardJob) + ".files");
  CHECK(read_contents(files) == Contents{{"made", "folder"},
                                         {"made/new.txt", "file made"},
                                         {"models", "folder"},
                                         {"models/m.om", "file changed"}});
  CHECK(contains(run.err, "made/new.txt"));
  CHECK(contains(run.err, "models/gone.om"));
  CHECK(scene.arrived().size() == 2);
  // The last line reports the data left on the board and how to remove it.
  const std::string last = run.err.substr(run.err.rfind('\n', run.err.size() - 2) + 1);
  CHECK(contains(last, "/msprof/cache/project-"));
  CHECK(contains(last, "--clean-board"));
  CHECK(names_in(scene.board.home() / "msprof/cache").size() == 1);
  CHECK(scene.litter() == "");
}

TEST_CASE("The application's output arrives while it runs, with stdout and stderr separate") {
  const BoardKind kind = each_kind();
  const BoardScene scene({.kind = kind});
  const std::string out = scene.user.at("stdout");
  // The script continues only after its output has arrived: if msprof buffered it, the run would
  // never end.
  write_file(scene.user.project() / "run.sh",
             "#!/bin/sh\necho first\necho wrong >&2\nwhile ! [ -e \"$1\" ]; do sleep 0.01; done\n"
             "echo second\n./main job " +
                 std::string(kBoardJob) + "\n");
  fs::permissions(scene.user.project() / "run.sh", fs::perms::owner_all);
  Words words = {"-c",
                 R"(exec "$@" >"$0")",
                 out,
                 msprof_path(),
                 "collect",
                 "-m",
                 "run.sh",
                 "--config",
                 scene.user.ini(),
                 "--output",
                 scene.user.output(),
                 "--",
                 scene.user.at("go on")};
  RunningProgram running("/bin/sh", words, scene.user.run_options());
  const bool arrived = eventually(
      [&] { return (fs::exists(out) && read_file(out) == "first\n") || running.has_ended(); });
  CHECK(arrived);
  CHECK_FALSE(running.has_ended());
  write_file(scene.user.at("go on"), "");
  const RunResult run = running.wait();
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(read_file(out) == "first\nsecond\n");
  CHECK(contains(run.err, "wrong\n"));
  CHECK_FALSE(contains(run.err, "second"));
}

TEST_CASE("The application runs in its own folder with its arguments, variables and libraries") {
  const BoardKind kind = each_kind();
  BoardScene scene({.kind = kind});
  const fs::path project = scene.user.project();
  fs::create_directories(project / "out/lib");
  write_file(project / "lib/libx.so", "x");
  write_file(project / "out/lib/liby.so", "y");
  write_file(project / "src/acl.json", "{}");
  fs::rename(project / "main", project / "out/main");
  scene.user.remember_project();
  const std::string odd = "a b; $(exit 3) * 'q' \"d\" \\ `id` \xc3\xa4\n-- end";
  RunOptions options = scene.user.run_options();
  options.folder = project / "out";
  const RunResult run =
      run_msprof(scene.user.words({"--env", "EMPTY=", "--env", "ODD=" + odd, "--env", "LATER=two"},
                                  {"--init", "../src/acl.json",
                                   "say",    odd,
                                   "say",    "",
                                   "say",    "-m",
                                   "say",    "--json",
                                   "cwd",    "argv0",
                                   "env",    "EMPTY",
                                   "env",    "ODD",
                                   "env",    "LATER",
                                   "env",    "HOME",
                                   "env",    "LD_LIBRARY_PATH",
                                   "job",    kBoardJob}),
                 options);
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const fs::path folder = scene.board.home() / "msprof/runs";
  const auto cwd_at = run.out.find(folder.string());
  REQUIRE(cwd_at != std::string::npos);
  const std::string cwd = run.out.substr(cwd_at, run.out.find('\n', cwd_at) - cwd_at);
  CHECK(cwd.ends_with("/project/out"));
  const std::string root = fs::path(cwd).parent_path();
  CHECK(run.out.substr(0, cwd_at) == odd + "\n\n-m\n--json\n");
  const std::string rest = run.out.substr(cwd_at + cwd.size() + 1);
  const std::string argv0 = rest.substr(0, rest.find('\n'));
  CHECK(argv0.ends_with("main"));
  CHECK(rest.substr(argv0.size() + 1) == "\n" + odd + "\ntwo\n" + scene.board.home().string() +
                                             "\n" + root + "/out/lib:" + root + "/lib\n");
  CHECK(scene.litter() == "");
}

TEST_CASE("--json is one document with time and bytes of every step") {
  const BoardScene scene;
  const RunResult run =
      scene.user.collect({"--json"}, {"say", "hello", "job", kBoardJob, "write", "new", "1234"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(contains(run.err, "hello\n"));
  const Json document = parse_document(run);
  REQUIRE(document.is_object());
  CHECK(document.at("schema") == "msprof.collect/2");
  CHECK(document.at("host") == scene.board.address());
  CHECK(document.at("exit_code") == 0);
  CHECK(document.at("application").at("exit_code") == 0);
  CHECK(document.at("application").at("connection_lost") == false);
  CHECK(document.at("board").at("folder") == (scene.board.home() / "msprof").string());
  CHECK(document.at("board").at("tar") == true);
  CHECK(document.at("board").at("sftp") == true);
  CHECK(document.at("board").at("free_bytes").get<std::uint64_t>() > 0);
  CHECK(contains(document.at("remains").get<std::string>(), "/msprof/cache/"));
  CHECK(document.at("notes").empty());
  CHECK(document.at("captures") ==
        Json::array({{{"path", (scene.user.output() / kBoardJob).string()}, {"has_data", true}}}));
  std::string names;
  for (const Json& step : document.at("steps")) {
    names += step.at("name").get<std::string>() + ",";
    CHECK(step.at("seconds").get<double>() >= 0);
  }
  CHECK(names == "check,connect,upload,run,fetch,clean up,");
  std::uint64_t project_bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(scene.user.project())) {
    if (entry.is_regular_file()) project_bytes += entry.file_size();
  }
  CHECK(find_step(document, "upload").at("bytes") == project_bytes);
  CHECK(find_step(document, "upload").at("files") == 3);
  std::uint64_t fetched = 4;
  for (const auto& entry : fs::recursive_directory_iterator(scene.user.output() / kBoardJob)) {
    // run.json is written on this machine.
    if (entry.is_regular_file() && entry.path().filename() != "run.json")
      fetched += entry.file_size();
  }
  CHECK(find_step(document, "fetch").at("bytes") == fetched);
  CHECK(scene.litter() == "");
}

TEST_CASE("On a terminal both transfers show their progress") {
  const BoardScene scene({.kind = each_kind()});
  write_file(scene.user.project() / "models/big.om", std::string(3'000'000, 'b'));
  const RunResult run =
      run_msprof(scene.user.words({}, {"job", kBoardJob, "big", "aicore.1", "3000000"}),
                 {.folder = scene.user.project(),
                  .variables = scene.board.client_variables(),
                  .terminal_columns = 200});
  INFO(run.out);
  CHECK(run.exit_code == 0);
  CHECK(contains(run.out, "sending the project to " + scene.board.address() + ": 100%"));
  CHECK(contains(run.out, "fetching from " + scene.board.address() + ": 100%"));
  CHECK_FALSE(contains(scene.user.collect({}, {"job", kBoardJob}).err, "%"));
}

TEST_CASE("-q prints nothing for a successful run, and -v prints the login method") {
  const BoardScene scene;
  CHECK(scene.user.collect({"-q"}, {"job", kBoardJob}).err == "");
  const RunResult verbose = scene.user.collect({"-v"}, {"job", kOtherBoardJob});
  CHECK(contains(verbose.err, "logged in with key " + scene.board.client_key().string()));
  CHECK(scene.litter() == "");
}

TEST_CASE("A capture whose name exists locally gets another name, and the old one is kept") {
  const BoardScene scene;
  REQUIRE(scene.user.collect({}, {"job", kBoardJob, "write", "JOB/data/mark", "1"}).exit_code == 0);
  const RunResult run = scene.user.collect({}, {"job", kBoardJob, "write", "JOB/data/mark", "2"});
  CHECK(run.exit_code == 0);
  CHECK(contains(run.err, std::string(kBoardJob) + "~2"));
  CHECK(scene.arrived() == Words{kBoardJob, std::string(kBoardJob) + "~2"});
  CHECK(read_file(scene.user.in_job("data/mark")) == "1");
  CHECK(read_file(scene.user.output() / (std::string(kBoardJob) + "~2") / "data/mark") == "2");
  CHECK(scene.litter() == "");
}

TEST_CASE("A run without a recording lists likely causes, also on a board") {
  const BoardScene scene({.kind = BoardKind::dropbear});
  const RunResult run = scene.user.collect({}, {"say", "no profiling here"});
  INFO(run.err);
  CHECK(run.exit_code == 4);
  CHECK(contains(run.err, "left no JOB folder; likely causes:"));
  CHECK(contains(run.err, "--online_model_type=2"));
  CHECK(scene.arrived().empty());
  CHECK(scene.litter() == "");
}

}  // namespace msprof::test
