// CANN applications recorded with the real command: on the host runtime, and with fakes of software
// missing on a test machine: a vendor's msprof and an installed CANN.
#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "acl/capture.hpp"
#include "base/owner_lock.hpp"
#include "support/eventually.hpp"
#include "support/files.hpp"

using namespace msprof::test;
using Catch::Matchers::Contains;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

struct Scene {
  TempFolder folder;
  std::vector<std::pair<std::string, std::string>> variables;

  Scene() {
    fs::create_directories(work());
    fs::create_directories(out());
  }
  fs::path work() const { return folder / "work"; }
  fs::path out() const { return folder / "out"; }

  RunResult run(Words words) const {
    RunOptions options;
    options.folder = work();
    options.variables = variables;
    return run_msprof(words, options);
  }
  RunResult collect(Words words) const {
    Words all = {"collect", "--output", out().string()};
    all.insert(all.end(), words.begin(), words.end());
    return run(all);
  }
  Words captures() const {
    Words names;
    for (const fs::path& path : prof_folders(out())) names.push_back(path.filename().string());
    return names;
  }
  void program(const std::string& name, const std::string& text) const {
    write_file(work() / name, text);
    fs::permissions(work() / name, fs::perms::owner_all);
  }
};

const std::string kDemo = DEMO_ACL;

// Returns true if a device task has been recorded so far. Files are preallocated with zeros.
bool has_recorded_tasks(const fs::path& output) {
  for (const auto& entry : fs::recursive_directory_iterator(output)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("stars_soc") || !name.ends_with("slice_0")) continue;
    char record[64] = {};
    std::ifstream(entry.path(), std::ios::binary).read(record, sizeof record);
    if (std::any_of(std::begin(record), std::end(record), [](char byte) { return byte != 0; }))
      return true;
  }
  return false;
}

// The only timeline of a capture with operators.
std::string read_timeline(const fs::path& capture) {
  const fs::path products = capture / "mindstudio_profiler_output";
  for (const std::string& name : names_in(products)) {
    if (name.starts_with("msprof_2") && name.ends_with(".json")) return read_file(products / name);
  }
  return "";
}

long number_in(const fs::path& capture, const std::string& sql) {
  return ImportedCapture(capture).number(sql);
}

// A fake vendor's msprof: saves its arguments and environment and runs `then`, with the folder of
// --output in $out.
std::string vendor(const fs::path& notes, const std::string& then) {
  return "#!/bin/sh\n[ \"$1\" = --version ] && { echo 'msprof: bad option'; exit 1; }\n"
         "for word in \"$@\"; do echo \"$word\"; case $word in --output=*) out=${word#--output=};; "
         "esac; done > '" +
         notes.string() + "'\nenv > '" + notes.string() + ".env'\n" + then;
}

}  // namespace

TEST_CASE("an application on CANN is recognized by its libraries and recorded in place") {
  const Scene scene;
  const auto before = fingerprint(fs::path(kDemo).parent_path());
  const RunResult run =
      scene.collect({"-m", kDemo, "--msproftx", "on", "--all", "--", "--images", "2"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(run.err, Contains("no CANN here: the host runtime runs models on the CPU"));
  CHECK_THAT(run.err, Contains("verdict: complete"));
  REQUIRE(scene.captures().size() == 1);
  // The output folder has no other files, and the application's folder is unchanged.
  CHECK(names_in(scene.out()) == scene.captures());
  CHECK(fingerprint(fs::path(kDemo).parent_path()) == before);
  const fs::path capture = scene.out() / scene.captures().front();
  CHECK(number_in(capture, "SELECT count(*) FROM user_range WHERE event_type = 1") == 9);
  CHECK_FALSE(names_in(capture / "mindstudio_profiler_output").empty());
}

TEST_CASE("both forms of the collector's command line record, export and advise") {
  const Scene scene;
  const bool is_quoted = GENERATE(true, false);
  CAPTURE(is_quoted);
  const std::string output = "--output=" + scene.out().string();
  const RunResult run =
      is_quoted ? scene.run({"--application=" + kDemo + " --images '1'", "--msproftx=on", output})
                : scene.run({"--msproftx", "on", output, kDemo, "--images", "1"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  REQUIRE(scene.captures().size() == 1);
  const fs::path capture = scene.out() / scene.captures().front();
  CHECK(run.err.empty());
  CHECK_THAT(run.out, Contains("verdict: complete"));
  CHECK_THAT(run.out, Contains("rules checked"));
  CHECK_THAT(run.out, Contains("Rank ID"));
  CHECK_THAT(run.out, Contains("[INFO] Start profiling....\n"));
  CHECK_THAT(run.out,
             Contains("[INFO] Export all data in " + scene.captures().front() + " done.\n"));
  CHECK(
      run.out.ends_with("\n[INFO] Profiling finished.\n[INFO] Process profiling data complete. "
                        "Data is saved in " +
                        capture.string() + "\n"));
  CHECK(number_in(capture, "SELECT count(*) FROM user_range WHERE event_type = 1") == 5);
}

TEST_CASE("without --output the capture is put where users of the vendor's collector expect it") {
  const Scene scene;
  fs::create_directories(scene.folder / "app");
  fs::create_directories(scene.folder / "ascend");
  scene.program("run.sh", "#!/bin/sh\nexec '" + kDemo + "' --images 1\n");
  CHECK(scene.run({"./run.sh"}).exit_code == 0);
  CHECK(prof_folders(scene.work()).size() == 1);
  fs::rename(scene.work() / "run.sh", scene.folder / "app" / "run.sh");
  CHECK(scene.run({"--application=../app/run.sh"}).exit_code == 0);
  CHECK(prof_folders(scene.folder / "app").size() == 1);
  Scene other;
  other.variables = {{"ASCEND_WORK_PATH", (scene.folder / "ascend").string()}};
  CHECK(other.run({kDemo, "--images", "1"}).exit_code == 0);
  CHECK(prof_folders(scene.folder / "ascend" / "profiling_data").size() == 1);
}

TEST_CASE("the options determine what a process records") {
  const Scene scene;
  const RunResult run = scene.run({"--task-time=off", "--ascendcl=on",
                                   "--output=" + scene.out().string(), kDemo, "--images", "1"});
  INFO(run.err);
  REQUIRE(scene.captures().size() == 1);
  const fs::path capture = scene.out() / scene.captures().front();
  CHECK(number_in(capture, "SELECT count(*) FROM task") == 0);
  CHECK(number_in(capture, "SELECT count(*) FROM api_call") > 0);
}

TEST_CASE("tuning suggestions are always printed") {
  const Scene scene;
  const bool all = GENERATE(false, true);
  Words words = {"-m", kDemo};
  if (all) words.emplace_back("--all");
  words.insert(words.end(), {"--", "--images", "1"});
  const RunResult run = scene.collect(words);
  INFO(run.err);
  CHECK(run.exit_code == 0);
  REQUIRE(scene.captures().size() == 1);
  const fs::path products = scene.out() / scene.captures().front() / "mindstudio_profiler_output";
  CHECK(Json::parse(read_file(products / "prof_rule_0.json")).at("status") == 0);
  if (all) return;
  CHECK(names_in(products) == Words{"prof_rule_0.json"});
  CHECK_THAT(run.err, Contains("tuning suggestions for device 0"));
  CHECK_THAT(run.err, !Contains("verdict"));
}

TEST_CASE("a run with everything switched off is reported") {
  const Scene scene;
  const RunResult run =
      scene.collect({"-m", kDemo, "--ascendcl=off", "--task-time=off", "--", "--images", "1"});
  INFO(run.err);
  CHECK(run.exit_code == 4);
  CHECK_THAT(run.err, Contains("--ascendcl=off and --task-time=off leave nothing to record"));
  CHECK_THAT(run.err, !Contains("never called"));
}

TEST_CASE("all that a host can record is recorded at once") {
  const Scene scene;
  const RunResult run = scene.run(
      {"--task-time=l3", "--runtime-api=on", "--ge-api=l1", "--aicpu=on", "--l2=on",
       "--task-memory=on", "--task-tsfw=on", "--msproftx=on", "--mstx-domain-exclude=none",
       "--hccl=on", "--model-execution=on", "--aic-mode=task-based", "--aic-metrics=L2Cache",
       "--storage-limit=200MB", "--python-path=/usr/bin/python3",
       "--output=" + scene.out().string(), kDemo, "--images", "1"});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, Contains("verdict: complete"));
  CHECK_THAT(run.out, Contains("--python-path is not needed"));
  REQUIRE(scene.captures().size() == 1);
  const fs::path capture = scene.out() / scene.captures().front();
  // Calls of ACL, of models, of operators and of the runtime.
  CHECK(number_in(capture, "SELECT count(DISTINCT level) FROM api_call") == 4);
  CHECK(number_in(capture, "SELECT count(*) FROM user_range") > 0);
}

TEST_CASE("--type and --summary-format decide what is exported") {
  const Scene scene;
  const std::string output = "--output=" + scene.out().string();
  CHECK(scene.run({"--type=db", output, kDemo, "--images", "1"}).exit_code == 0);
  REQUIRE(scene.captures().size() == 1);
  const fs::path capture = scene.out() / scene.captures().front();
  CHECK(names_in(capture / "mindstudio_profiler_output").empty());
  const auto names = names_in(capture);
  CHECK(std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.starts_with("msprof_") && name.ends_with(".db");
  }));
  const Scene tables;
  CHECK(tables
            .run({"--summary-format=json", "--output=" + tables.out().string(), kDemo, "--images",
                  "1"})
            .exit_code == 0);
  REQUIRE(tables.captures().size() == 1);
  const auto products =
      names_in(tables.out() / tables.captures().front() / "mindstudio_profiler_output");
  CHECK(std::any_of(products.begin(), products.end(), [](const std::string& name) {
    return name.starts_with("op_summary_") && name.ends_with(".json");
  }));
  CHECK(std::none_of(products.begin(), products.end(),
                     [](const std::string& name) { return name.ends_with(".csv"); }));
}

TEST_CASE("--parse, --export and similar options call the verb for it") {
  const Scene scene;
  REQUIRE(scene.collect({"-m", kDemo, "--", "--images", "1"}).exit_code == 0);
  const fs::path capture = scene.out() / scene.captures().front();
  const std::string output = "--output=" + capture.string();
  CHECK_THAT(scene.run({"--parse=on", output}).out, Contains("verdict: complete"));
  CHECK(fs::exists(capture / "sqlite" / "msprof.db"));
  CHECK_THAT(scene.run({"--query=on", output}).out, Contains("host runtime"));
  // A host has no collectives.
  CHECK(scene.run({"--analyze=on", "--rule=communication", output}).exit_code == 0);
  CHECK_FALSE(fs::exists(capture / "analyze"));
  CHECK(scene.run({"--export=on", output, "--type=text", "--clear=on"}).exit_code == 0);
  CHECK_FALSE(names_in(capture / "mindstudio_profiler_output").empty());
  CHECK_FALSE(fs::exists(capture / "sqlite"));
  CHECK(scene.run({"--export=on", output, "--model-id=1", "--iteration-id=1"}).exit_code == 0);
  write_file(scene.out() / "reports.json", R"({"json_process": {"cann": false, "ascend": true}})");
  const std::string reports = "--reports=" + (scene.out() / "reports.json").string();
  CHECK(scene.run({"--export=on", output, reports}).exit_code == 0);
  CHECK_THAT(read_timeline(capture), Contains("Ascend Hardware") && !Contains("\"CANN\""));
  CHECK_THAT(scene.run({"--help"}).out, Contains("--type"));
}

TEST_CASE("damaged records are a success for callers, a failing application is not") {
  const Scene scene;
  const std::string output = "--output=" + scene.out().string();
  // Removes the end of its last record.
  const std::string cut =
      "\nout=$(echo \"$PROFILER_SAMPLECONFIG\" | sed "
      "'s/.*\"result_dir\":\"\\([^\"]*\\)\".*/\\1/')\n"
      "for file in \"$out\"/PROF_*/device_*/data/stars_soc*slice_0; do\n"
      "  truncate -s -5 \"$file\"\ndone\n";
  scene.program("app", "#!/bin/sh\n'" + kDemo + "' --images 1" + cut);
  const RunResult run = scene.run({output, "./app"});
  INFO(run.out);
  CHECK(run.exit_code == 0);
  CHECK(run.err.empty());
  CHECK_THAT(run.out, Contains("PARTIAL DATA"));
  scene.program("app", "#!/bin/sh\n'" + kDemo + "' --images 1\nexit 9\n");
  const RunResult failed = scene.run({output, "./app"});
  CHECK(failed.exit_code == 7);
  CHECK_THAT(failed.err, Contains("app exited with code 9"));
  CHECK_THAT(failed.out, Contains("Data is saved in " + (scene.out() / "PROF_").string()));
}

TEST_CASE("an invalid command line prints one line, never the help") {
  const Scene scene;
  const std::string output = "--output=" + scene.out().string();
  const std::pair<Words, const char*> wrong[] = {
      {{"--msproftix=on", kDemo}, "did you mean --msproftx?"},
      {{"--msproftx"}, "--msproftx needs a value: on|off"},
      {{"--task-time=l9", kDemo}, "--task-time: expected"},
      {{"--task-time=on", "show"}, "but 'show' is a command"},
      {{"--task-time=on"}, "no application given"},
      {{"--application=" + kDemo, "other"}, "both name an application"},
      {{"--application='x"}, "the closing ' is missing"},
      {{"--application= "}, "--application is empty: give the command line of an application"},
      {{"--sys-lp=on", "--dvpp-profiling=on", kDemo},
       "--dvpp-profiling and --sys-lp need the driver of a card"},
      {{"--export=on"}, "--export=on needs --output=PROF_"},
      {{"--export=on", "--parse=on", output}, "cannot be combined"},
      {{"--export=on", output, kDemo}, "remove the application"},
      {{"--analyze=on", output, "--rule=steps"}, "--rule: expected communication and"},
      {{"--export=on", output, "--reports=a.json"}, "--reports: cannot read"},
      {{"--export=on", output, "--type=db", "--reports=a.json"}, "--type=db writes no timeline"},
      {{"--aic-metrics=Custom:73,8", kDemo}, "--aic-metrics: Custom:73,8 requires events"},
      {{"--iteration-id=2", kDemo}, "--iteration-id needs --export=on"},
      {{"shwo"}, "unknown command 'shwo'; did you mean show?"},
      {{"--top", "3"}, "--top must follow the command"},
      {{"collect", "-m", kDemo, "--cann", "--interval", "3"},
       "--interval is for applications on SVP"},
      {{"collect", "-m", kDemo, "--cann", "--dialect", "svp"}, "cannot be combined"},
      {{"collect", "-m", "/bin/true", "--msproftx", "on"}, "add --cann"},
      {{"collect", "-m", kDemo, "--dialect", "svp", "--l2", "on"},
       "cannot be used with --dialect svp"},
      {{"collect", "-m", kDemo, "--interval", "3", "--l2", "on"}, "give only one of"},
      {{"collect", "-m", kDemo, "--aic-metrics", "Wrong"}, "--aic-metrics: expected"},
  };
  for (const auto& [words, sentence] : wrong) {
    CAPTURE(words);
    const RunResult run = scene.run(words);
    CHECK(run.exit_code == 2);
    CHECK_THAT(run.err, Contains(sentence));
    CHECK(run.err.size() < 420);
    CHECK(run.out.empty());
  }
  CHECK(scene.captures().empty());
  CHECK_THAT(scene.run({"--ascendcl=on", "./none"}).err, Contains("no such file"));
  CHECK(scene.run({"--ascendcl=on", "./none"}).exit_code == 4);
}

TEST_CASE("an application with the name of a command is run behind dashes") {
  const Scene scene;
  scene.program("show", "#!/bin/sh\nexec '" + kDemo + "' --images 1\n");
  CHECK(scene.run({"--", "show"}).exit_code == 0);
  CHECK(prof_folders(scene.work()).size() == 1);
}

TEST_CASE("every process of a run has its own folder, with its rank") {
  Scene scene;
  scene.program("launch", "#!/bin/sh\nfor rank in 0 1 2; do RANK=$rank '" + kDemo +
                              "' --images 1 & done\nwait\n");
  const RunResult run = scene.collect({"-m", "launch", "--cann"});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(scene.captures().size() == 3);
  for (const char* const rank : {"(rank 0, process ", "(rank 1, process ", "(rank 2, process "})
    CHECK_THAT(run.err, Contains(rank));

  Scene ranked;
  ranked.variables = {{"OMPI_COMM_WORLD_RANK", "5"}};
  CHECK_THAT(ranked.collect({"-m", kDemo, "--", "--images", "1"}).err, Contains("(rank 5, "));
  ranked.variables.emplace_back("RANK_ID", "6");
  CHECK_THAT(ranked.collect({"-m", kDemo, "--", "--images", "1"}).err, Contains("(rank 6, "));
}

TEST_CASE("variables of the application are set, and its exit code is reported") {
  const Scene scene;
  scene.program("app", "#!/bin/sh\necho \"$ONE-$TWO\"\nexit 9\n");
  const RunResult run = scene.run({"--environment=ONE=1;TWO=2", "./app"});
  CHECK(run.exit_code == 7);
  CHECK_THAT(run.out, Contains("\n1-2\n"));
  CHECK(run.out.find("Data is saved in") == std::string::npos);
  CHECK_THAT(run.err, Contains("app exited with code 9"));
  CHECK_THAT(run.err, Contains("the run left no PROF folder; likely causes:"));
}

TEST_CASE("Ctrl-C stops the application, and its recording is complete") {
  const Scene scene;
  RunOptions options;
  options.folder = scene.work();
  test::RunningProgram running(
      msprof_path(),
      {"collect", "--output", scene.out().string(), "-m", kDemo, "--", "--images", "100000"},
      options);
  const auto has_begun = [&] {
    for (const auto& entry : fs::recursive_directory_iterator(scene.out())) {
      if (entry.path().filename() == "sample.json") return true;
    }
    return false;
  };
  REQUIRE(eventually(has_begun));
  REQUIRE(eventually([&] { return has_recorded_tasks(scene.out()); }));
  running.send(SIGINT);
  const RunResult run = running.wait();
  INFO(run.err);
  CHECK(run.exit_code == 130);
  REQUIRE(scene.captures().size() == 1);
  const ImportedCapture imported(scene.out() / scene.captures().front());
  CHECK(imported.import().exit_code == 0);
  CHECK(imported.number("SELECT count(*) FROM task") > 0);
}

TEST_CASE("the recording of a killed msprof gets its name later") {
  const Scene scene;
  const Scene source;
  REQUIRE(source.collect({"-m", kDemo, "--", "--images", "1"}).exit_code == 0);
  const std::string name = source.captures().front();
  // A folder whose lock is free.
  const fs::path stale =
      scene.out() / (".collect.0123456789abcdef-" + msprof::machine_tag() + ".msprof-tmp");
  fs::create_directories(stale / "remote" / "profiling" / "host_1_ascend_ms");
  fs::create_directories(stale / "captures" / "PROF_000002_half" / "host" / "data");
  fs::create_directories(stale / "remote" / "profiling" / "PROF_000003_empty" / "host");
  fs::copy(source.out() / name, stale / "remote" / "profiling" / "host_1_ascend_ms" / name,
           fs::copy_options::recursive);
  const RunResult run = scene.collect({"-m", kDemo, "--", "--images", "1"});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.err, Contains("kept from an earlier run whose msprof was killed: " +
                               (scene.out() / name).string()));
  CHECK_FALSE(fs::exists(stale));
  REQUIRE(scene.captures().size() == 2);
  CHECK(ImportedCapture(scene.out() / name).import().exit_code == 0);
}

TEST_CASE("--json has the command, the runtime and the outcome") {
  const Scene scene;
  const RunResult run = scene.collect({"-m", kDemo, "--json", "--all", "--", "--images", "1"});
  REQUIRE(run.exit_code == 0);
  const Json document = Json::parse(run.out);
  CHECK(document.at("runtime") == "no CANN here: the host runtime runs models on the CPU");
  REQUIRE(document.at("captures").size() == 1);
  CHECK(document.at("captures")[0].at("has_data") == true);
  CHECK(document.at("results")[0].at("import").at("verdict") == "complete");
}

TEST_CASE("the vendor's collector gets its own options, and its folder is found") {
  Scene scene;
  // The vendor's recording is replaced by a capture of the local host runtime.
  const Scene source;
  REQUIRE(source.collect({"-m", kDemo, "--", "--images", "1"}).exit_code == 0);
  const std::string capture = (source.out() / source.captures().front()).string();
  const fs::path tools = scene.folder / "tools";
  const fs::path notes = scene.folder / "notes";
  const auto install = [&](const std::string& then) {
    write_file(tools / "msprof", vendor(notes, then));
    fs::permissions(tools / "msprof", fs::perms::owner_all);
  };
  scene.variables = {{"PATH", tools.string() + ":/usr/bin:/bin"}};

  const std::string name = fs::path(capture).filename().string();
  install("cp -r '" + capture + "' \"$out\"\necho \"json: $out/" + name +
          "/x.json\"\necho \"[INFO] Process profiling data complete. Data is saved in $out/" +
          name + "\"\n");
  const RunResult run =
      scene.run({"--output=" + scene.out().string(), "--sys-lp=on", "--l2=on",
                 "--aic-metrics=Custom:73,0x8", "--environment=A=1", "/bin/sh", "-c", "exit 0"});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, Contains("collected by the vendor's " + (tools / "msprof").string()));
  CHECK(scene.captures() == source.captures());
  // The output does not mention the temporary folder that held the data during the run.
  const std::string final_folder = (scene.out() / scene.captures().front()).string();
  CHECK(run.out.find(".collect.") == std::string::npos);
  CHECK_THAT(run.out, Contains("json: " + final_folder + "/x.json"));
  const std::string closing = "[INFO] Process profiling data complete. Data is saved in ";
  const auto closing_at = run.out.find(closing);
  CHECK(run.out.substr(closing_at) == closing + final_folder + "\n");
  const std::string words = read_file(notes);
  CHECK_THAT(words, Contains("\n--aic-metrics=Custom:73,0x8\n--l2=on\n--sys-lp=on\n" +
                             fs::canonical("/bin/sh").string() + "\n-c\nexit 0\n"));
  CHECK(words.find("--environment") == std::string::npos);
  CHECK_THAT(read_file(notes.string() + ".env"), Contains("MSPROF_INNER=1\n"));
  CHECK_THAT(read_file(notes.string() + ".env"), Contains("\nA=1\n"));

  install("exit 3\n");
  const RunResult failed = scene.collect({"-m", "/bin/true", "--cann"});
  CHECK(failed.exit_code == 7);
  CHECK_THAT(failed.err, Contains("the run left no PROF folder"));
  CHECK_THAT(failed.err, Contains((tools / "msprof").string() + " failed"));

  install("exit 0\n");
  CHECK(scene.collect({"-m", "/bin/true", "--cann"}).exit_code == 4);

  install("mkdir -p \"$out/PROF_000009_20261123000000000_HALF/host\"\n");
  const RunResult half = scene.collect({"-m", "/bin/true", "--cann", "--all"});
  CHECK(half.exit_code == 4);
  CHECK_THAT(half.err, Contains("the run left a PROF folder without data/"));
  CHECK(fs::is_directory(scene.out() / "PROF_000009_20261123000000000_HALF" / "host"));

  // A framework recorded through its own environment variables does not use the vendor's collector.
  const RunResult framework =
      scene.collect({"-m", kDemo, "--framework", "tf", "--", "--images", "1"});
  CHECK(framework.exit_code == 0);
  CHECK_THAT(framework.err, Contains("the host runtime runs models on the CPU"));
  const RunResult both = scene.collect({"-m", kDemo, "--framework", "tf", "--runtime", "vendor"});
  CHECK(both.exit_code == 2);
  CHECK_THAT(both.err, Contains("remove --runtime vendor"));

  const RunResult by_hand =
      scene.collect({"-m", kDemo, "--runtime", "host", "--", "--images", "1"});
  CHECK(by_hand.exit_code == 0);
  CHECK_THAT(by_hand.err, Contains("the host runtime runs models on the CPU"));
}

TEST_CASE("an installed CANN gets its parameters in the environment") {
  Scene scene;
  const Scene source;
  REQUIRE(source.collect({"-m", kDemo, "--", "--images", "1"}).exit_code == 0);
  const std::string capture = (source.out() / source.captures().front()).string();
  write_file(scene.folder / "cann" / "lib64" / "libascendcl.so", "another library");
  const fs::path notes = scene.folder / "notes";
  // A fake application: like a real CANN, it reads the parameters from the environment.
  scene.program("app", "#!/bin/sh\nprintf %s \"$PROFILER_SAMPLECONFIG\" > '" + notes.string() +
                           "'\nout=$(sed 's/.*\"result_dir\":\"\\([^\"]*\\)\".*/\\1/' '" +
                           notes.string() + "')\ncp -r '" + capture +
                           "' \"$out\"\n"
                           "echo \"$PROFILING_MODE-$LD_LIBRARY_PATH\"\n");
  scene.variables = {{"ASCEND_HOME_PATH", (scene.folder / "cann").string()}};
  const RunResult run = scene.run({"--output=" + scene.out().string(), "--sys-io=on", "./app"});
  CHECK(run.exit_code == 2);
  const RunResult done = scene.run(
      {"--output=" + scene.out().string(), "--sys-io-profiling=on", "--duration=5", "./app", "x"});
  INFO(done.err);
  CHECK(done.exit_code == 0);
  CHECK_THAT(done.out, Contains("gets its parameters through PROFILER_SAMPLECONFIG"));
  CHECK_THAT(done.out, Contains("delay_or_duration-\n"));
  const Json config = Json::parse(read_file(notes));
  CHECK(config.at("io_profiling") == "on");
  CHECK(config.at("durationTime") == "5");
  CHECK(config.at("app_parameters") == "x");
  CHECK(scene.captures() == source.captures());
  const RunResult refused = scene.run({"--npu-events=x", "./app"});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("--npu-events cannot be passed to CANN's runtime"));
}

TEST_CASE("a framework is recorded through its own variables, which are checked before the start") {
  const Scene scene;
  const RunResult run =
      scene.collect({"-m", kDemo, "--framework", "tf", "--all", "--", "--images", "1"});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.err, Contains("\"task_time\":\"on\""));
  CHECK_THAT(run.err, Contains("verdict: complete"));
  CHECK(scene.captures().size() == 1);

  const Scene other;
  other.program("env.sh", "#!/bin/sh\nenv\n");
  const RunResult set = other.collect({"-m", "env.sh", "--cann", "--framework", "mindspore"});
  CHECK_THAT(set.out, Contains("MS_PROFILER_OPTIONS={\"start\":true,"));
  CHECK(set.out.find("PROFILER_SAMPLECONFIG") == std::string::npos);

  const std::pair<Words, const char*> wrong[] = {
      {{"--framework", "tf", "--profiling-options", R"({"output":"/tmp", task_trace":"on"})"},
       "not valid JSON"},
      {{"--framework", "tf", "--profiling-options", R"({"task_tyme":"on"})"}, "task_time"},
      {{"--framework", "tf", "--l2", "on"}, "use --profiling-options instead"},
      {{"--framework", "tf", "--delay", "1"}, "--delay does not affect this framework"},
      {{"--profiling-options", "{}"}, "--framework tf"},
      {{"--framework", "tensorflo"}, "did you mean tensorflow"},
  };
  for (const auto& [words, sentence] : wrong) {
    CAPTURE(words);
    Words all = {"-m", kDemo};
    all.insert(all.end(), words.begin(), words.end());
    const RunResult refused = other.collect(all);
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.err, Contains(sentence));
  }
}

TEST_CASE("files of a framework next to its PROF folders are kept too") {
  const Scene scene;
  const Scene source;
  REQUIRE(source.collect({"-m", kDemo, "--", "--images", "1"}).exit_code == 0);
  const std::string capture = (source.out() / source.captures().front()).string();
  scene.program("app",
                "#!/bin/sh\nout=$(echo \"$PROFILER_SAMPLECONFIG\" | sed "
                "'s/.*\"result_dir\":\"\\([^\"]*\\)\".*/\\1/')\n"
                "mkdir -p \"$out/host_1_ascend_ms/FRAMEWORK\"\n"
                "cp -r '" +
                    capture +
                    "' \"$out/host_1_ascend_ms\"\n"
                    "echo data > \"$out/host_1_ascend_ms/FRAMEWORK/file\"\n");
  const RunResult run = scene.collect({"-m", "app", "--cann"});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  REQUIRE(scene.captures().size() == 2);
  CHECK(scene.captures().front() == source.captures().front());
  CHECK(read_file(scene.out() / (scene.captures().front() + ".files") / "host_1_ascend_ms" /
                  "FRAMEWORK" / "file") == "data\n");
}
