// The interface for programs that call CANN's msprof and its scripts: exit status, stdout, an empty
// stderr, and the folder layout in which they expect the scripts.
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>

#include "cli/cli_fixture.hpp"
#include "support/lines.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

struct Capture {
  TempFolder folder;
  fs::path path;

  explicit Capture(std::vector<int> devices = {0}) {
    prof::RunShape shape;
    shape.tasks = 300;
    shape.steps = 3;
    prof::ProfSetup setup;
    setup.devices.assign(devices.begin(), devices.end());
    path = prof::make_run(folder.path(), setup, shape).folder;
  }
  std::string name() const { return path.filename().string(); }
  std::string output() const { return "--output=" + path.string(); }
  fs::path products() const { return path / "mindstudio_profiler_output"; }
};

// A killed process leaves an incomplete last record.
void cut_last_record(const fs::path& capture) {
  for (const auto& entry : fs::directory_iterator(capture / "device_0" / "data")) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("ffts_profile") || name.ends_with(".done")) continue;
    fs::resize_file(entry.path(), fs::file_size(entry.path()) - 5);
    return;
  }
  FAIL("no file to cut");
}

std::string closing_lines(const fs::path& folder) {
  return "[INFO] Profiling finished.\n[INFO] Process profiling data complete. Data is saved in " +
         folder.string() + "\n";
}

bool has_file(const fs::path& folder, const std::string& prefix, const std::string& extension) {
  for (const std::string& name : names_in(folder)) {
    if (name.starts_with(prefix) && name.ends_with(extension)) return true;
  }
  return false;
}

std::size_t count_rows(const fs::path& folder, const std::string& prefix) {
  for (const std::string& name : names_in(folder)) {
    if (name.starts_with(prefix) && name.ends_with(".csv"))
      return count_occurrences(read_file(folder / name), "\n") - 1;
  }
  return 0;
}

// Runs msprof under the name of one of the scripts.
RunResult run_as(const TempFolder& folder, const std::string& name, const Words& words) {
  const fs::path program = folder / name;
  if (!fs::exists(program)) fs::create_symlink(msprof_path(), program);
  return run_program(program.string(), words);
}

}  // namespace

TEST_CASE("a damaged record is status 0 for callers of CANN's tool, and 3 for our verbs") {
  const Capture capture;
  cut_last_record(capture.path);
  const Words work = GENERATE(Words{"--export=on"}, Words{"--export=on", "--type=db"},
                              Words{"--parse=on"}, Words{"--query=on"});
  Words words = work;
  words.push_back(capture.output());
  const RunResult result = run_msprof(words);
  INFO(result.out);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(contains(result.out, "PARTIAL DATA"));
  CHECK(result.out.starts_with("[INFO] Start profiling....\n"));
  CHECK(result.out.ends_with(closing_lines(capture.path)));
  const RunResult own = run_msprof({"export", "all", "-dir", capture.path.string()});
  CHECK(own.exit_code == 3);
  CHECK_FALSE(own.err.empty());
  CHECK(run_msprof({"import", "-dir", capture.path.string()}).exit_code == 3);
}

TEST_CASE("each step on a capture is between the lines that callers look for") {
  const Capture capture;
  const std::string name = capture.name();
  const auto run_output = [&](const std::string& work) {
    return run_msprof({work, capture.output()}).out;
  };
  const std::string exported = run_output("--export=on");
  CHECK(contains(exported, "[INFO] Start export data in " + name + ".\n"));
  CHECK(contains(exported, "[INFO] Export all data in " + name + " done.\n"));
  CHECK(contains(run_output("--parse=on"), "[INFO] Parse all data in " + name + " done.\n"));
  CHECK(contains(run_output("--query=on"), "[INFO] Query all data in " + name + " done.\n"));
  // A relative folder is printed as an absolute path.
  const RunResult there =
      run_msprof({"--query=on", "--output=" + name + "/"}, {.folder = capture.path.parent_path()});
  CHECK(there.out.ends_with(closing_lines(capture.path)));
}

TEST_CASE("of several captures those that give products decide the status") {
  const Capture capture;
  fs::create_directories(capture.folder / "PROF_000009_20240515160507101_EMPTY/host/data");
  write_file(capture.folder / "PROF_000009_20240515160507101_EMPTY/host/info.json", "{}");
  const std::string output = "--output=" + capture.folder.path().string();
  const RunResult result = run_msprof({"--export=on", output});
  INFO(result.out);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(has_file(capture.products(), "op_summary_", ".csv"));
  fs::remove_all(capture.path);
  const RunResult nothing = run_msprof({"--export=on", output});
  CHECK(nothing.exit_code == 4);
  CHECK(contains(nothing.err, "no product could be written"));
  CHECK_FALSE(contains(nothing.out, "Data is saved in"));
}

TEST_CASE("what cannot be done has a sentence on stderr and another status") {
  const Capture capture;
  const RunResult missing = run_msprof({"--export=on", "--output=/nowhere/PROF_1"});
  CHECK(missing.exit_code == 4);
  CHECK(contains(missing.err, "/nowhere/PROF_1"));
  const RunResult wrong = run_msprof({"--export=on", "--iteration-id=99", capture.output()});
  CHECK(wrong.exit_code == 2);
  CHECK(contains(wrong.err, "no iteration 99 of model"));
  CHECK_FALSE(contains(wrong.out, "Data is saved in"));
}

TEST_CASE("the process lives on until a poller has seen its database") {
  const Capture capture;
  const RunResult result = run_msprof({"--export=on", "--type=db", capture.output()});
  const auto end = fs::file_time_type::clock::now();
  REQUIRE(result.exit_code == 0);
  for (const std::string& name : names_in(capture.path)) {
    if (!name.starts_with("msprof_") || !name.ends_with(".db")) continue;
    CHECK(end - fs::last_write_time(capture.path / name) >= std::chrono::milliseconds(300));
    return;
  }
  FAIL("no database");
}

TEST_CASE("--query=on prints the columns of CANN's tool, a row a model and folder") {
  const Capture capture({0, 2});
  const RunResult result = run_msprof({"--query=on", capture.output()});
  REQUIRE(result.exit_code == 0);
  std::vector<Words> rows;
  for (const std::string& line : split_lines(result.out)) {
    if (count_occurrences(line, "\t") != 8) continue;
    Words cells;
    for (std::size_t at = 0, end = 0; (end = line.find('\t', at)) != std::string::npos;
         at = end + 1) {
      const std::string cell = line.substr(at, end - at);
      cells.push_back(cell.substr(0, cell.find_last_not_of(' ') + 1));
    }
    rows.push_back(cells);
  }
  REQUIRE(rows.size() >= 4);
  CHECK(rows.front() == Words{"Job Info", "Device ID", "Dir Name", "Collection Time", "Model ID",
                              "Iteration Number", "Top Time Iteration", "Rank ID"});
  const auto answers = [&](const std::string& sql) {
    const RunResult answer =
        run_msprof({"query", "-q", "--format", "csv", "-dir", capture.path.string(), sql});
    REQUIRE(answer.exit_code == 0);
    Words lines = split_lines(answer.out);
    lines.erase(lines.begin());
    return lines;
  };
  std::size_t models = 0;
  for (const Words& row : rows) {
    if (!row[2].starts_with("device_") || row[4] == "N/A") continue;
    ++models;
    const std::string of = " FROM main.iteration WHERE device_id = " + row[2].substr(7) +
                           " AND model_number = " + row[4];
    CHECK(answers("SELECT max(number)" + of) == Words{row[5]});
    std::string top;
    for (const std::string& number :
         answers("SELECT number" + of + " ORDER BY duration_ns DESC, number LIMIT 5"))
      top += (top.empty() ? "" : ",") + number;
    CHECK(row[6] == top);
    CHECK(row[7] == "-1");
  }
  CHECK(models >= 1);
  CHECK(answers("SELECT count(*) FROM (SELECT DISTINCT device_id, model_number FROM "
                "main.iteration)") == Words{std::to_string(models)});
}

TEST_CASE("an export takes several iterations, of the only model where none is named") {
  const Capture capture;
  const std::string dir = capture.path.string();
  const auto rows = [&](Words words) {
    fs::remove_all(capture.products());
    words.insert(words.begin(), {"export", "summary", "op_summary", "-dir", dir});
    const RunResult result = run_msprof(words);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return count_rows(capture.products(), "op_summary_");
  };
  const std::size_t first = rows({"--model-id", "1", "--iteration-id", "1"});
  const std::size_t second = rows({"--model-id", "1", "--iteration-id", "2"});
  CHECK(first > 0);
  CHECK(rows({"--iteration-id", "1"}) == first);
  CHECK(rows({"--iteration-id", "1", "--iteration-count", "2"}) == first + second);
  const auto refused = [&](const Words& words, const std::string& sentence) {
    Words all = {"export", "timeline", "-dir", dir};
    all.insert(all.end(), words.begin(), words.end());
    const RunResult result = run_msprof(all);
    CHECK(result.exit_code == 2);
    CHECK(contains(result.err, sentence));
  };
  refused({"--iteration-id", "2", "--iteration-count", "5"}, "no iteration 4 of model 1");
  refused({"--iteration-id", "1", "--iteration-count", "6"}, "expected 1 to 5, got 6");
  refused({"--iteration-count", "2"}, "--iteration-count needs --iteration-id");
  refused({"--model-id", "1"}, "--model-id needs --iteration-id");
}

TEST_CASE("--clear leaves raw data and products") {
  const Capture capture;
  const Words kind =
      GENERATE(Words{"timeline"}, Words{"summary", "--format", "csv"}, Words{"db"}, Words{"all"});
  Words words = {"export"};
  words.insert(words.end(), kind.begin(), kind.end());
  words.insert(words.end(), {"--clear", "-dir", capture.path.string()});
  const RunResult result = run_msprof(words);
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK_FALSE(fs::exists(capture.path / "sqlite"));
  CHECK(fs::exists(capture.path / "device_0" / "data"));
}

TEST_CASE("an option of CANN's tool may come again, and the last one counts") {
  const Capture capture;
  const std::string output = "--output=/nowhere";
  const RunResult result =
      run_msprof({"--export=on", "--type=db", output, "--type", "text", capture.output()});
  CHECK(result.exit_code == 0);
  CHECK(has_file(capture.products(), "op_summary_", ".csv"));
  CHECK(run_msprof({"--aicpu=on", "--aicpu=on", "--version"}).exit_code == 0);
  CHECK(run_msprof({"export", "db", "--output", "a", "--output", "b"}).exit_code == 2);
}

TEST_CASE("msprof op says which tool that is") {
  const RunResult result = run_msprof({"op", "simulator", "--application=./main"});
  CHECK(result.exit_code == 2);
  CHECK(contains(result.err, "msopprof"));
  CHECK(result.out.empty());
}

TEST_CASE("the help has what torch_npu looks for, and not the words that cost its users time") {
  const RunResult help = run_msprof({"--help"});
  CHECK(help.exit_code == 0);
  CHECK(help.err.empty());
  CHECK(contains(help.out, "--type"));
  CHECK_FALSE(contains(help.out, "text(which will also export the database)"));
}

TEST_CASE("as msprof.py it imports, exports and queries with status 0 and nothing on stderr") {
  const Capture capture;
  const std::string dir = capture.path.string();
  cut_last_record(capture.path);
  for (const Words& words :
       {Words{"import", "-dir", dir}, Words{"export", "summary", "-dir", dir},
        Words{"export", "timeline", "-dir", dir, "--model-id", "1", "--iteration-id", "1"},
        Words{"query", "-dir", dir}}) {
    const RunResult result = run_as(capture.folder, "msprof.py", words);
    CAPTURE(words, result.out);
    CHECK(result.exit_code == 0);
    CHECK(result.err.empty());
  }
  CHECK(has_file(capture.products(), "op_summary_", ".csv"));
  CHECK(has_file(capture.products(), "msprof_", ".json"));
  CHECK(contains(run_as(capture.folder, "msprof.py", {"query", "-dir", dir}).out, "Rank ID"));
  const RunResult wrong = run_as(capture.folder, "msprof.py", {"import", "-dir", "/nowhere"});
  CHECK(wrong.exit_code == 4);
  CHECK(contains(wrong.err, "/nowhere"));
}

TEST_CASE("as get_msprof_info.py it prints what is known about a folder of a capture") {
  const Capture capture;
  const auto read_info = [&](const std::string& part) {
    const RunResult result =
        run_as(capture.folder, "get_msprof_info.py", {"-dir", (capture.path / part).string()});
    REQUIRE(result.exit_code == 0);
    CHECK(result.err.empty());
    return nlohmann::json::parse(result.out);
  };
  REQUIRE(run_msprof({"import", "-q", "-dir", capture.path.string()}).exit_code == 0);
  const auto raw = nlohmann::json::parse(read_file(capture.path / "host" / "info.json"));
  const auto host = read_info("host");
  CHECK(host.at("status") == 0);
  const auto& data = host.at("data");
  const auto& cpu = data.at("host_info").at("cpu_info").at(0);
  CHECK(cpu.at("Frequency") == raw.at("CPU").at(0).at("Frequency"));
  CHECK(data.at("device_info").empty());
  CHECK(data.at("collection_info").at("Result Size").get<std::string>().ends_with(" MB"));
  const auto device = read_info("device_0").at("data");
  CHECK(device.at("device_info").contains("AI Core Number"));
  REQUIRE(device.at("model_info").at("iterations").size() >= 1);
  CHECK(device.at("model_info").at("iterations").at(0).at("Iteration Number") == 3);
  const RunResult whole =
      run_as(capture.folder, "get_msprof_info.py", {"-dir", capture.path.string()});
  CHECK(whole.exit_code == 4);
  CHECK(whole.out.empty());
}

TEST_CASE("an installed msprof is where frameworks look for CANN's tools") {
  const Capture capture;
  const fs::path prefix = capture.folder / "prefix";
  const auto install = [](const fs::path& into, const std::string& script) {
    return run_program("/usr/bin/env", {"cmake", "-DCMAKE_INSTALL_LOCAL_ONLY=1",
                                        "-DCMAKE_INSTALL_PREFIX=" + into.string(), "-P",
                                        std::string(BUILD_FOLDER) + script});
  };
  const RunResult installed = install(prefix, "/apps/msprof/cmake_install.cmake");
  INFO(installed.err);
  REQUIRE(installed.exit_code == 0);
  CHECK(fs::read_symlink(prefix / "bin/msprof") == "../tools/profiler/bin/msprof");
  const std::string real = fs::canonical(prefix / "bin/msprof").string();
  const fs::path base = real.substr(0, real.find("tools"));
  const fs::path scripts = base / "tools/profiler/profiler_tool/analysis";
  const std::string dir = capture.path.string();
  const RunResult exported = run_program(
      "/usr/bin/env",
      {"python3", (scripts / "msprof/msprof.py").string(), "export", "summary", "-dir", dir});
  INFO(exported.err);
  CHECK(exported.exit_code == 0);
  CHECK(exported.err.empty());
  CHECK(has_file(capture.products(), "op_summary_", ".csv"));
  const RunResult info =
      run_program((scripts / "interface/get_msprof_info.py").string(), {"-dir", dir + "/host"});
  CHECK(info.exit_code == 0);
  CHECK(nlohmann::json::parse(info.out).at("status") == 0);

  const RunResult refused = install(capture.folder / "mytools" / "prefix", "/cmake_install.cmake");
  CHECK(refused.exit_code != 0);
  CHECK(contains(refused.err, "contains \"tools\""));
  CHECK_FALSE(fs::exists(capture.folder / "mytools"));
}
