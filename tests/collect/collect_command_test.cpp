#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "collect/collect_fixture.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;
using Json = nlohmann::json;

TEST_CASE("Standard input, output and error pass through") {
  const DemoProject demo;
  const Finished run =
      collect(demo, {"-m", "main", "--", "say", "to out", "complain", "to err", "echo-stdin"}, {},
              "from the user\n");
  CHECK(run.out == "to out\nfrom the user\n");
  CHECK(contains(run.err, "to err\n"));
}

TEST_CASE("Arguments after -- are passed to the application unchanged") {
  const DemoProject demo;
  const Finished run = collect(demo, {"-m", "main", "--", "say", "-m", "say", "a b; $(exit 3) *",
                                      "say", "--json", "say", ""});
  CHECK(run.out == "-m\na b; $(exit 3) *\n--json\n\n");
}

TEST_CASE("With --json stdout is one document, and the application prints to stderr") {
  const DemoProject demo;
  const Finished run = collect(demo, {"-m", "main", "--json", "--all", "--", "say", "hello", "job",
                                      kJob, "write", "made.txt", "x", "exit", "3"});
  CHECK(run.exit_code == 7);
  CHECK(contains(run.err, "hello\n"));
  const Json document = Json::parse(run.out);
  CHECK(document.at("schema") == "msprof.collect/2");
  CHECK(document.at("main") == (demo.project() / "main").string());
  CHECK(document.at("application").at("exit_code") == 3);
  CHECK(document.at("exit_code") == 7);
  REQUIRE(document.at("captures").size() == 1);
  CHECK(document.at("captures")[0].at("path") == (demo.project() / kJob).string());
  CHECK(document.at("captures")[0].at("has_data") == true);
  REQUIRE(document.at("files").size() == 1);
  CHECK(document.at("results").size() == 1);
  CHECK(document.at("results")[0].at("import").at("files") == 1);
  std::string names;
  for (const Json& step : document.at("steps")) {
    names += step.at("name").get<std::string>() + ",";
    CHECK(step.at("seconds").get<double>() >= 0);
  }
  CHECK(names == "check,copy,run,fetch,import and export,");
}

TEST_CASE("--all imports every capture, also after an application that failed") {
  const DemoProject demo;
  const Finished run =
      collect(demo, {"-m", "main", "--all", "--", "job", kJob, "job", kOtherJob, "raise", "11"});
  CHECK(run.exit_code == 7);
  CHECK(contains(run.err, std::string("driver imports ") + kJob));
  CHECK(contains(run.err, std::string("driver imports ") + kOtherJob));
  CHECK(contains(run.err, "next: msprof show -dir"));
}

TEST_CASE("The suggested next commands can be copied into a shell with any folder name") {
  const DemoProject demo;
  const std::string output = (demo.project().parent_path() / "Tom's runs; ls").string();
  const std::string quoted = (demo.project().parent_path() / "Tom'\\''s runs; ls").string();
  const Finished run = collect(demo, {"-m", "main", "--output", output, "--", "job", kJob});
  CHECK(run.exit_code == 0);
  const std::string dir = "-dir '" + quoted + "/" + kJob + "'";
  CHECK(contains(run.err, "next: msprof import " + dir + ", then msprof show " + dir + "\n"));
}

TEST_CASE("Damaged data changes the exit code of --all") {
  const DemoProject demo;
  CHECK(collect(demo, {"-m", "main", "--all", "--", "job", "JOBDAMAGED"}).exit_code == 3);
  CHECK(collect(demo, {"-m", "main", "--", "job", "JOBDAMAGED"}).exit_code == 0);
}

TEST_CASE("The exit of the application is reported with its code or signal") {
  const DemoProject demo;
  const Finished code = collect(demo, {"-m", "main", "--", "job", kJob, "exit", "3"});
  CHECK(code.exit_code == 7);
  CHECK(contains(code.err, "main exited with code 3"));
  CHECK(demo.exists(std::string("project/") + kJob + "/info.json.0"));
  const Finished segv = collect(demo, {"-m", "main", "--", "raise", "11"});
  CHECK(segv.exit_code == 7);
  CHECK(contains(segv.err, "main was killed by SIGSEGV"));
  CHECK(contains(collect(demo, {"-m", "main", "--", "raise", "9"}).err, "SIGKILL"));
  CHECK(contains(collect(demo, {"-m", "main", "--", "raise", "13"}).err, "SIGPIPE"));
}

TEST_CASE("A program for another machine is refused with a message") {
  const DemoProject demo;
  demo.write("project/board_app", std::string("\x7f"
                                              "ELF\x02\x01\x01\x00garbage",
                                              15));
  ::chmod((demo.project() / "board_app").c_str(), 0755);
  const Finished run = collect(demo, {"-m", "board_app"});
  CHECK(run.exit_code == 7);
  CHECK(contains(run.err, "cannot run board_app: it is not built for this machine"));
  CHECK(is_empty_or_missing(demo.runs()));
}

TEST_CASE("A script is run by its interpreter") {
  const DemoProject demo;
  demo.write("project/run.sh", "#!/bin/sh\necho script; exit 5\n");
  ::chmod((demo.project() / "run.sh").c_str(), 0755);
  const Finished run = collect(demo, {"-m", "run.sh"});
  CHECK(run.out == "script\n");
  CHECK(contains(run.err, "run.sh exited with code 5"));
}

TEST_CASE("A run without a capture lists the possible causes") {
  const DemoProject demo;
  const Finished none = collect(demo, {"-m", "main"});
  CHECK(none.exit_code == 4);
  CHECK(contains(none.err, "left no JOB folder; likely causes:"));
  CHECK(contains(none.err, "svp_acl_init"));
  CHECK(contains(none.err, "--online_model_type=2"));
  CHECK_FALSE(contains(none.err, "--switch off"));
  CHECK_FALSE(contains(none.err, "dump"));
  CHECK_FALSE(contains(none.err, "ended before"));
  CHECK_FALSE(contains(none.err, "AI-ISP"));

  demo.write("project/acl.json", R"({"dump":{"dump_list":[{"model_name":"m"}]}})");
  const Finished dump = collect(demo, {"-m", "main", "--", "exit", "1"});
  CHECK(dump.exit_code == 7);
  CHECK(contains(dump.err, "dump"));
  CHECK(contains(dump.err, "main ended before"));

  const Finished library = collect(demo, {"-m", "main", "--", "exit", "127"});
  CHECK(contains(library.err, "shared library"));
}

TEST_CASE("A capture without data is kept, with the reason") {
  const DemoProject demo;
  const Finished run = collect(demo, {"-m", "main", "--all", "--", "job-empty", kJob});
  CHECK(run.exit_code == 4);
  CHECK(contains(run.err, "JOB folder without data/"));
  CHECK(contains(run.err, "--online_model_type=2"));
  CHECK(demo.exists(std::string("project/") + kJob + "/info.json.0"));
  CHECK_FALSE(contains(run.err, "driver imports"));
}

TEST_CASE("With --switch off nothing is collected, with a message") {
  const DemoProject demo;
  const Finished run = collect(demo, {"-m", "main", "--switch", "off", "--", "job", kJob});
  CHECK(run.exit_code == 4);
  CHECK(contains(run.err, "--switch off"));
  CHECK_FALSE(contains(run.err, "svp_acl_init"));
  CHECK(collect(demo, {"-m", "main", "--switch", "off", "--", "exit", "2"}).exit_code == 7);
}

TEST_CASE("Invalid options are usage errors that list the valid values") {
  const DemoProject demo;
  const auto usage = [&](const std::vector<std::string>& words, const std::string& part) {
    const Finished run = collect(demo, words);
    INFO(run.err);
    CHECK(run.exit_code == 2);
    CHECK(contains(run.err, part));
  };
  usage({}, "--main");
  usage({"-m", ""}, "-m");
  usage({"-m", "main", "--interval", "10000"}, "9999");
  usage({"-m", "main", "--interval", "-1"}, "9999");
  usage({"-m", "main", "--interval", "x"}, "interval");
  usage({"-m", "main", "--acl_api", "yes"}, "on");
  usage({"-m", "main", "--aac_metrics", "PipeUtilization"}, "ArithmeticUtilization or none");
  usage({"-m", "main", "--timeout", "0"}, "--timeout");
  usage({"-m", "main", "--timeout", "nan"}, "--timeout");
  usage({"-m", "main", "--nonsense"}, "--nonsense");
  CHECK(is_empty_or_missing(demo.runs()));
}

TEST_CASE("Other spellings of the options work the same") {
  const DemoProject demo;
  const Finished run =
      collect(demo, {"--main", "main", "--acl-api", "off", "--aicpu", "off", "--aic-metrics",
                     "ArithmeticUtilization", "--", "job", kJob, "append", "acl.json", "\n"});
  CHECK(run.exit_code == 0);
  const Json copy = Json::parse(demo.read(std::string("project/") + kJob + ".files/acl.json"));
  CHECK(copy.at("profiler").at("acl_api") == "off");
  CHECK(copy.at("profiler").at("aicpu") == "off");
}

TEST_CASE("Help starts with examples, and --help-all lists every option") {
  const DemoProject demo;
  CHECK(collect(demo, {"--help"}).out.starts_with("Examples:\n"));
  const Finished run = collect(demo, {"--help-all"});
  CHECK(run.exit_code == 0);
  for (const char* option :
       {"--main", "--interval", "--acl_api", "--aacpu", "--switch", "--aac_metrics", "--output",
        "--project", "--acl-json", "--timeout", "--all", "--json", "--config"}) {
    CHECK(contains(run.out, option));
  }
}

TEST_CASE("A missing executable exits with 4 (nothing to do), even if PATH has one of that name") {
  const DemoProject demo;
  demo.add_app("path/other");
  const Finished run = collect(demo, {"-m", "other"});
  CHECK(run.exit_code == 4);
  CHECK(contains(run.err, "'other'"));
}

TEST_CASE("An unwritable output folder ends the command before the run") {
  const DemoProject demo;
  demo.write("a_file", "x");
  for (const char* output : {"../a_file", "../a_file/below", "/proc/self/nowhere"}) {
    const Finished run = collect(
        demo, {"-m", "main", "--output", output, "--", "ready", (demo.root() / "ran").string()});
    INFO(run.err);
    CHECK(run.exit_code == 5);
    CHECK(contains(run.err, "--output"));
    CHECK_FALSE(demo.exists("ran"));
  }
}

TEST_CASE("An unwritable cache folder is reported with its variable") {
  const DemoProject demo;
  demo.write("a_file", "x");
  const Finished run = collect(demo, {"-m", "main"}, {}, "",
                               {"XDG_CACHE_HOME=" + (demo.root() / "a_file").string()});
  CHECK(run.exit_code == 5);
  CHECK(contains(run.err, "XDG_CACHE_HOME"));
}

TEST_CASE("The lib folders of the copy come first on the library path") {
  const DemoProject demo;
  demo.write("project/lib/libx.so", "x");
  const Finished run = collect(demo, {"-m", "main", "--", "env", "LD_LIBRARY_PATH"}, {}, "",
                               {"LD_LIBRARY_PATH=/usr/local/mine"});
  CHECK(contains(run.out, "/tree/project/lib:/usr/local/mine\n"));
}

TEST_CASE("An output folder inside the project is not copied") {
  const DemoProject demo;
  demo.write("project/results/old.bin", "x");
  const Finished run = collect(demo, {"-m", "main", "--output", "results", "--", "job", kJob,
                                      "append", "results/old.bin", "new"});
  CHECK(run.exit_code == 0);
  CHECK(demo.read(std::string("project/results/") + kJob + ".files/results/old.bin") == "new");
  CHECK(demo.read("project/results/old.bin") == "x");
}

TEST_CASE("-q leaves warnings and errors only") {
  const DemoProject demo;
  CHECK(collect(demo, {"-q", "-m", "main", "--", "job", kJob}).err.empty());
  CHECK(contains(collect(demo, {"-q", "-m", "main", "--", "exit", "3"}).err, "code 3"));
}
