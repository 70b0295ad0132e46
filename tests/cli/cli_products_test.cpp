// Files that exports write into a folder: no product overwrites another or remains when outdated,
// and only files replaced by an export are removed.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>

#include "cli/cli_fixture.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kLedger = ".msprof_products";
constexpr const char* kTime = "_20231114221320";

// A PROF folder with steps, user ranges and collectives.
struct Run {
  TempFolder folder;
  fs::path capture;

  Run() {
    prof::RunShape shape;
    shape.tasks = 400;
    capture = prof::make_run(folder.path(), {}, shape).folder;
  }
  fs::path products() const { return capture / "mindstudio_profiler_output"; }

  RunResult exported(Words words, int exit_code = 0) const {
    words.insert(words.begin(), "export");
    words.insert(words.end(), {"-dir", capture.string()});
    const RunResult result = run_msprof(words);
    INFO(result.err);
    CHECK(result.exit_code == exit_code);
    return result;
  }
  // Runs the same export in a folder without other products.
  fs::path alone(Words words) const {
    const fs::path out = folder / "alone";
    fs::remove_all(out);
    words.insert(words.end(), {"--output", out.string()});
    exported(words);
    return out / "mindstudio_profiler_output";
  }
};

// Names and bytes of the files in `folder`.
std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const std::string& name : names_in(folder)) files[name] = read_file(folder / name);
  return files;
}

Words file_names(const std::map<std::string, std::string>& files) {
  Words names;
  for (const auto& [name, bytes] : files) names.push_back(name);
  return names;
}

// Returns names and contents, with compressed files decompressed: isa-l compresses about one block
// in ten thousand to a slightly different size.
std::map<std::string, std::string> contents_in(const fs::path& folder) {
  auto files = files_in(folder);
  for (auto& [name, bytes] : files) {
    if (!name.ends_with(".gz")) continue;
    RunResult unpacked = run_program("/bin/gzip", {"-dc", (folder / name).string()});
    REQUIRE(unpacked.exit_code == 0);
    bytes = std::move(unpacked.out);
  }
  return files;
}

void check_equal(const fs::path& found, const fs::path& expected) {
  CHECK(file_names(files_in(found)) == file_names(files_in(expected)));
  CHECK(contents_in(found) == contents_in(expected));
}

// A ledger line that matches the current file `folder`/`name`.
std::string ledger_line(const fs::path& folder, const std::string& kind,
                        const std::string& document, const std::string& name) {
  struct stat file = {};
  REQUIRE(::lstat((folder / name).c_str(), &file) == 0);
  const auto ns =
      static_cast<long long>(file.st_mtim.tv_sec) * 1'000'000'000 + file.st_mtim.tv_nsec;
  return kind + "\t" + std::to_string(file.st_size) + "\t" + std::to_string(ns) + "\t" + document +
         "\t" + name + "\n";
}

// Name, size and time of everything below `folder`. Folders have no time here, because temporary
// files change it.
std::vector<std::string> states_below(const fs::path& folder) {
  std::vector<std::string> states;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    struct stat file = {};
    REQUIRE(::lstat(entry.path().c_str(), &file) == 0);
    if (S_ISDIR(file.st_mode)) continue;
    states.push_back(entry.path().string() + " " + std::to_string(file.st_size) + " " +
                     std::to_string(file.st_mtim.tv_sec) + "." +
                     std::to_string(file.st_mtim.tv_nsec));
  }
  std::sort(states.begin(), states.end());
  return states;
}

void set_old(const fs::path& path) {
  const timespec both[2] = {{1'577'836'800, 0}, {1'577'836'800, 0}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), both, AT_SYMLINK_NOFOLLOW) == 0);
}

}  // namespace

TEST_CASE("JSON tables and timelines never have the same name, in either order") {
  const Run run;
  run.exported({"timeline"});
  const auto timelines = files_in(run.products());
  REQUIRE(timelines.count(std::string("step_trace") + kTime + ".json") == 1);
  run.exported({"summary", "--format", "json"});
  const auto both = files_in(run.products());
  for (const auto& [name, bytes] : timelines) CHECK(both.at(name) == bytes);
  CHECK(both.count(std::string("step_trace") + kTime + ".table.json") == 1);
  run.exported({"timeline"});
  CHECK(files_in(run.products()) == both);
}

TEST_CASE("viewers do not load a JSON table as a timeline") {
  const Run run;
  const auto job = make_face(run.folder.path(), "JOBA");
  run.exported({"summary", "--format", "json"});
  run.exported({"summary", "--format", "json", "--style", "cann5"});
  CHECK(run_msprof({"export", "summary", "--format", "json", "-dir", job.folder().string()})
            .exit_code == 0);
  // Pattern by which MindStudio Insight recognizes timelines in a folder.
  const std::regex viewer(R"((trace_view|trace|msprof(_slice)?(_\d+){1,4})\.json)");
  int tables = 0;
  for (const fs::path& folder :
       {run.products(), run.capture / "device_0" / "summary", job.folder() / "summary"}) {
    for (const std::string& name : names_in(folder)) {
      if (name.starts_with("prof_rule_")) continue;
      ++tables;
      CAPTURE(name);
      CHECK(name.ends_with(".table.json"));
      CHECK_FALSE(std::regex_search(name, viewer));
      const auto rows = nlohmann::json::parse(read_file(folder / name));
      CHECK(rows.is_array());
    }
  }
  CHECK(tables > 20);
  CHECK(names_in(job.folder() / "summary").front() == "acl_statistic_0_31_0.table.json");
}

TEST_CASE("a timeline removes the files of the previous one in any format") {
  const Run run;
  const Words forms[] = {{"--split", "200kB"},
                         {"--split", "300kB"},
                         {},
                         {"--gzip"},
                         {"--split", "200kB"},
                         {"--gzip", "--split", "300kB"},
                         {},
                         {"--model-id", "1", "--iteration-id", "2"},
                         {},
                         {"--time-range", ":2ms"}};
  std::size_t most = 0;
  for (const Words& form : forms) {
    Words words = {"timeline"};
    words.insert(words.end(), form.begin(), form.end());
    CAPTURE(form);
    run.exported(words);
    most = std::max(most, names_in(run.products()).size());
    check_equal(run.products(), run.alone(words));
  }
  CHECK(most > 4);
}

TEST_CASE("an import in between does not change what export knows about earlier files") {
  const Run run;
  run.exported({"timeline", "--split", "200kB"});
  CHECK(run_msprof({"import", "-q", "-dir", run.capture.string()}).exit_code == 0);
  run.exported({"timeline"});
  check_equal(run.products(), run.alone({"timeline"}));
}

TEST_CASE("export removes only files that it replaces, and reports them") {
  const Run run;
  run.exported({"all"});
  run.exported({"summary", "--format", "json"});
  run.exported({"timeline", "--style", "cann5"});
  write_file(run.products() / "notes.csv", "mine");
  write_file(run.products() / "msprof_slice_7.json", "[]");
  const auto before = names_in(run.products());
  const auto in_device = states_below(run.capture / "device_0" / "timeline");
  run.exported({"summary", "op_summary"});
  CHECK(before.size() > 20);
  CHECK(names_in(run.products()) == before);
  const auto said = run.exported({"timeline", "--gzip"});
  CHECK(contains(said.err, "removed 3 files of an earlier export from " + run.products().string()));
  CHECK(fs::exists(run.products() / "notes.csv"));
  CHECK(fs::exists(run.products() / "msprof_slice_7.json"));
  CHECK(states_below(run.capture / "device_0" / "timeline") == in_device);
  CHECK(fs::exists(run.capture / (std::string("msprof") + kTime + ".db")));
}

TEST_CASE("a table of one iteration replaces the whole table, and vice versa") {
  const Run run;
  const Words one = {"summary", "op_summary", "--model-id", "1", "--iteration-id", "2"};
  for (const Words& words : {Words{"summary", "op_summary"}, one, Words{"summary", "op_summary"}}) {
    run.exported(words);
    check_equal(run.products(), run.alone(words));
  }
}

TEST_CASE("a file that was changed since is kept and reported") {
  const Run run;
  run.exported({"timeline", "--split", "200kB"});
  const fs::path changed = run.products() / (std::string("msprof_slice_1") + kTime + ".json");
  REQUIRE(fs::exists(changed));
  SECTION("other bytes") {
    write_file(changed, "[]");
  }
  SECTION("the same bytes, another time") {
    set_old(changed);
  }
  SECTION("a link instead of the file") {
    fs::rename(changed, run.folder / "moved");
    fs::create_symlink(run.folder / "moved", changed);
  }
  const auto result = run.exported({"timeline"});
  CHECK(contains(result.err, "[product_changed]"));
  CHECK(contains(result.err, changed.string()));
  CHECK(fs::exists(fs::symlink_status(changed)));
  fs::remove(changed);
  check_equal(run.products(), run.alone({"timeline"}));
  CHECK_FALSE(contains(run.exported({"timeline"}).err, "product_changed"));
}

TEST_CASE("a foreign ledger removes nothing outside its folder and only products") {
  const Run run;
  run.exported({"timeline"});
  const fs::path products = run.products();
  const std::string document = std::string("msprof") + kTime;
  std::string ledger = read_file(products / kLedger);
  REQUIRE(ledger.starts_with("msprof products 1\n"));
  write_file(run.capture / "msprof_victim.json", "mine");
  write_file(products / "notes.txt", "mine");
  write_file(products / "sub" / "msprof_1.json", "mine");
  write_file(run.folder / "far.json", "mine");
  fs::create_symlink(run.folder / "far.json", products / "msprof_link.json");
  fs::create_directory(products / "msprof_folder.json");
  for (const std::string& name :
       {std::string("../msprof_victim.json"), run.capture.string() + "/msprof_victim.json",
        std::string("notes.txt"), std::string("sub/msprof_1.json"), std::string("msprof_link.json"),
        std::string("msprof_folder.json"), std::string("."), std::string("..")}) {
    const fs::path path = fs::path(name).is_absolute() ? fs::path("/") : products;
    ledger += ledger_line(path, "timeline", document, name);
  }
  ledger += "\n\t\t\t\t\nnonsense\ntimeline\t-1\tx\tmsprof\tmsprof_1.json\ntimeline\t4\t1\tmsp";
  write_file(products / kLedger, ledger);
  run.exported({"timeline", "--gzip"});
  CHECK(read_file(run.capture / "msprof_victim.json") == "mine");
  CHECK(read_file(products / "notes.txt") == "mine");
  CHECK(read_file(products / "sub" / "msprof_1.json") == "mine");
  CHECK(read_file(products / "msprof_link.json") == "mine");
  CHECK(fs::is_directory(products / "msprof_folder.json"));
  CHECK_FALSE(fs::exists(products / (document + ".json")));
}

TEST_CASE("an invalid ledger is replaced, and the target of a link is not changed") {
  const Run run;
  run.exported({"timeline"});
  const fs::path ledger = run.products() / kLedger;
  write_file(run.folder / "mine", "mine");
  fs::remove(ledger);
  SECTION("a link") {
    fs::create_symlink(run.folder / "mine", ledger);
  }
  SECTION("another form") {
    write_file(ledger, "msprof products 9\nwhat comes\n");
  }
  SECTION("a pipe") {
    REQUIRE(::mkfifo(ledger.c_str(), 0600) == 0);
  }
  run.exported({"timeline", "--split", "200kB"});
  CHECK(read_file(run.folder / "mine") == "mine");
  CHECK(fs::is_regular_file(fs::symlink_status(ledger)));
  run.exported({"timeline", "--gzip"});
  // No ledger lists the first export's file any more, so it stays.
  CHECK(fs::exists(run.products() / (std::string("msprof") + kTime + ".json")));
}

TEST_CASE("files announced by a killed export are known to the next one") {
  const Run run;
  run.exported({"timeline", "--split", "200kB"});
  // The state after a kill: a ledger line for a file that was not written, and a truncated line.
  const std::string name = std::string("msprof_slice_0") + kTime + ".json";
  std::string ledger = read_file(run.products() / kLedger);
  ledger += "timeline\t12\t34\tmsprof" + std::string(kTime) + "\t" + name + "\ntimeline\t5";
  write_file(run.products() / kLedger, ledger);
  const auto result = run.exported({"timeline"});
  CHECK_FALSE(contains(result.err, "product_changed"));
  check_equal(run.products(), run.alone({"timeline"}));
}

TEST_CASE("devices of a board can be exported separately, and slices of one are replaced") {
  const TempFolder folder;
  JobBuilder job(folder.path());
  job.info_json("1000", Generation::ss928, 0).info_json("500", Generation::ss928, 1);
  job.net_info("net", 1);
  AicoreRecord record;
  record.start_ns = 1000;
  record.total = 1000;
  for (const int device : {0, 1}) job.data(DataName{.device = device}, aicore_file({record}));
  const auto exported = [&](Words words) {
    words.insert(words.begin(), "export");
    words.insert(words.end(), {"-q", "-dir", job.folder().string()});
    CHECK(run_msprof(words).exit_code == 0);
    return names_in(job.folder() / "timeline");
  };
  const Words both = {"task_time_0.net.1.1.json", "task_time_1.net.1.1.json"};
  CHECK(exported({"timeline", "--device", "0"}) == Words{both[0]});
  CHECK(exported({"timeline", "--device", "1"}) == both);
  CHECK(exported({"timeline", "--device", "1", "--gzip"}) == Words{both[0], both[1] + ".gz"});
  CHECK(exported({"timeline"}) == both);
}

TEST_CASE("an empty part of the run is reported, and earlier files are kept") {
  const Words part = GENERATE(as<Words>(), Words{"--time-range", "3000s:3001s"},
                              Words{"--time-range", "0:1"}, Words{"--min-dur", "1000s"});
  const Run run;
  const auto job = make_face(run.folder.path(), "JOBA");
  for (const fs::path& capture : {run.capture, job.folder()}) {
    const Words words = {"export", "timeline", "-dir", capture.string()};
    CHECK(run_msprof(words).exit_code == 0);
    const auto before = states_below(capture);
    Words empty = words;
    empty.insert(empty.end(), part.begin(), part.end());
    const auto result = run_msprof(empty);
    CHECK(result.exit_code == 4);
    CHECK(contains(result.err, "[empty_scope]"));
    CHECK(states_below(capture) == before);
  }
}

TEST_CASE("hints about viewers are printed only if relevant") {
  const Run run;
  CHECK_FALSE(contains(run.exported({"timeline"}).err, "opens in"));
  const auto packed = run.exported({"timeline", "--gzip"});
  CHECK(contains(packed.err, " of JSON)"));
  CHECK_FALSE(contains(packed.err, "Insight"));
  const std::string help = run_msprof({"export", "timeline", "--help"}).out;
  CHECK_FALSE(contains(help, "which viewers open as it is"));
  CHECK(
      contains(std::regex_replace(help, std::regex("\\s+"), " "), "but not in MindStudio Insight"));
}

TEST_CASE("many files are counted by folder, and listed with -v") {
  const TempFolder folder;
  JobBuilder job(folder.path());
  job.info_json("500").net_info("net", 1);
  AicoreRecord record;
  record.total = 10;
  constexpr int kCaptures = 40;
  for (int i = 0; i < kCaptures; ++i) {
    record.start_ns = static_cast<std::uint64_t>(i) * 1000 + 1000;
    job.data(DataName{.pics = 10, .current = i + 1}, aicore_file({record}));
  }
  const Words words = {"export", "summary", "op_summary", "-dir", job.folder().string()};
  const auto counted = run_msprof(words);
  CHECK(counted.exit_code == 0);
  const std::string line = "wrote 40 files to " + (job.folder() / "summary").string() + " (";
  CHECK(contains(counted.err, line));
  CHECK_FALSE(contains(counted.err, ".csv"));
  Words verbose = words;
  verbose.push_back("-v");
  const auto named = run_msprof(verbose);
  CHECK(contains(named.err, line));
  const auto names = names_in(job.folder() / "summary");
  CHECK(names.size() == kCaptures);
  for (const std::string& name : names) CHECK(contains(named.err, name + " ("));
}

TEST_CASE("the missing unified database of a board is explained") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  const auto result = run_msprof({"export", "db", "-dir", job.folder().string()});
  CHECK(result.exit_code == 4);
  CHECK(contains(result.err, "[no_unified_db]"));
  CHECK(contains(result.err, "PROF…"));
  CHECK(contains(result.err, "msprof export summary"));
  CHECK_FALSE(contains(result.err, "import` shows why"));
}
