// Every verb reports whether the unit loads of a capture come from a model.
#include <catch2/catch.hpp>

#include "cli/cli_fixture.hpp"
#include "store/database.hpp"
#include "store/schema.hpp"
#include "support/lines.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* kNote = "host runtime: times measured, unit loads modelled";
constexpr std::size_t kHeaderBytes = 16;

std::string job_name(char letter) {
  return "JOB" + std::string(29, letter);
}

// Two executions of a convolution that waits for memory, and of a following layer.
std::vector<AicoreRecord> records() {
  std::vector<AicoreRecord> all;
  for (std::uint64_t i = 0; i < 2; ++i) {
    AicoreRecord conv{.layer_id = 0, .start_ns = 1'000'000 * (i + 1), .total = 400'000};
    conv.mac_busy = 100'000;
    conv.dstr = 390'000;
    conv.execution = i;
    all.push_back(conv);
    AicoreRecord relu{.layer_id = 1, .start_ns = conv.start_ns + 400'000, .total = 100'000};
    relu.execution = i;
    all.push_back(relu);
  }
  return all;
}

JobBuilder make_job(const fs::path& parent, char letter, const std::string& aicore) {
  JobBuilder job(parent, job_name(letter));
  job.info_json("1000").net_info("net", 1, {.layer_num = 2});
  job.layer_info("net", 1,
                 {{0, 0, "Conv", "AA_CORE", "conv", ""}, {1, 0, "Relu", "AA_CORE", "relu", ""}});
  job.data(DataName{}, aicore);
  return job;
}

// Like a capture of the host runtime.
std::string make_modelled(const fs::path& parent, char letter) {
  return make_job(parent, letter, aicore_file(records())).folder().string();
}

// The same records as an unknown board could write them, imported with a layout file.
std::string make_measured(const fs::path& parent, char letter) {
  const auto job = make_job(parent, letter, aicore_file(records()).substr(kHeaderBytes));
  const fs::path layout = parent / "layout.json";
  write_file(layout, R"({"aicore": {"header_size": 0, "record_size": 112, "fields": {
    "layer_id": {"offset": 0, "type": "u32"}, "start": {"offset": 8, "type": "u64"},
    "total_cycles": {"offset": 16, "type": "u64"}, "mac_busy": {"offset": 24, "type": "u64"},
    "mac_ppen": {"offset": 32, "type": "u64"}, "vec_busy": {"offset": 40, "type": "u64"},
    "vec_ppen": {"offset": 48, "type": "u64"}, "dstr": {"offset": 56, "type": "u64"},
    "dtrans": {"offset": 64, "type": "u64"}, "dld": {"offset": 72, "type": "u64"},
    "wld": {"offset": 80, "type": "u64"}, "execution": {"offset": 104, "type": "u64"}}}})");
  const std::string folder = job.folder().string();
  const auto imported = run_msprof({"import", "-dir", folder, "--layout", layout.string()});
  INFO(imported.err);
  REQUIRE(imported.exit_code == 0);
  CHECK_FALSE(contains(imported.err, "modelled"));
  return folder;
}

std::string make_prof(const fs::path& parent) {
  prof::RunShape shape;
  shape.tasks = 200;
  return prof::make_run(parent, {}, shape).folder.string();
}

// Like a capture of the host runtime for CANN, which writes its version next to the fields of a
// chip's driver.
std::string make_modelled_prof(const fs::path& parent) {
  const fs::path folder = make_prof(parent);
  std::size_t changed = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("info.json")) continue;
    json info = json::parse(read_file(entry.path()));
    info["msprof_host_runtime"] = "0.2.0";
    write_file(entry.path(), info.dump());
    ++changed;
  }
  CHECK(changed == 2);
  return folder.string();
}

json run_for_json(const Words& words) {
  const auto result = run_msprof(words);
  INFO(result.err);
  REQUIRE_FALSE(result.out.empty());
  return json::parse(result.out);
}

std::size_t lines_with(const std::string& text, const std::string& part) {
  const auto lines = split_lines(text);
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [&](const std::string& line) { return contains(line, part); }));
}

const std::vector<Words> kTexts = {{"import"},
                                   {"show"},
                                   {"query"},
                                   {"advise", "--lang", "en"},
                                   {"advise", "--lang", "zh", "--all"}};

Words about(const Words& verb, const std::string& folder) {
  Words words = verb;
  words.insert(words.end(), {"-dir", folder});
  return words;
}

Words list_rules(const json& advice, const char* list) {
  Words rules;
  for (const json& one : advice["captures"][0][list]) rules.push_back(one["rule"]);
  return rules;
}

bool has_word(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

TEST_CASE(
    "import, show, query and advise state in one line that the host runtime models unit loads") {
  const TempFolder folder;
  const std::string job = make_modelled(folder.path(), 'A');
  const auto imported = run_msprof({"import", "-dir", job});
  CHECK(lines_with(imported.err, kNote) == 1);
  const auto lines = split_lines(imported.err);
  const auto verdict = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("verdict: ");
  });
  REQUIRE(verdict != lines.begin());
  REQUIRE(verdict != lines.end());
  CHECK(*(verdict - 1) == std::string("  ") + kNote);
  CHECK(lines_with(run_msprof({"show", "-dir", job, "-q"}).out, kNote) == 1);
  CHECK(lines_with(run_msprof({"query", "-dir", job, "-q"}).out, kNote) == 1);
  CHECK(lines_with(run_msprof({"advise", "-dir", job, "-q", "--lang", "en"}).out, kNote) == 1);
  const auto chinese = run_msprof({"advise", "-dir", job, "-q", "--lang", "zh"});
  CHECK(lines_with(chinese.out, "主机运行时:时间为实测,单元负载为模型值") == 1);
  for (const char* verb : {"import", "show", "query", "advise"}) {
    INFO(verb);
    CHECK(run_for_json({verb, "--json", "-dir", job})["captures"][0]["unit_loads"] == "modelled");
  }
}

TEST_CASE("no verb mentions modelled values for captures of boards and Atlas machines") {
  const TempFolder folder;
  const std::string job = make_measured(folder.path(), 'A');
  for (const std::string& capture : {job, make_prof(folder.path())}) {
    for (Words verb : kTexts) {
      if (capture == job && verb.front() == "import")
        verb.insert(verb.end(), {"--layout", (folder / "layout.json").string()});
      const auto result = run_msprof(about(verb, capture));
      INFO(capture << ": " << verb.front() << "\n" << result.out << result.err);
      CHECK(result.exit_code == 0);
      CHECK_FALSE(contains(result.out + result.err, "modelled"));
      CHECK_FALSE(contains(result.out + result.err, "模型值"));
      verb.push_back("--json");
      CHECK(run_for_json(about(verb, capture))["captures"][0]["unit_loads"] == "measured");
    }
    const auto compared = run_msprof({"compare", capture, capture});
    CHECK_FALSE(contains(compared.out, "modelled"));
    const auto page = run_msprof({"compare", capture, capture, "--format", "html"});
    CHECK_FALSE(contains(page.out, "modelled"));
    const json document = run_for_json({"compare", capture, capture, "--json"});
    CHECK(document["base"]["unit_loads"] == "measured");
    CHECK(document["new"]["unit_loads"] == "measured");
  }
}

TEST_CASE("a PROF folder of the host runtime shows its name instead of a chip") {
  const TempFolder folder;
  const std::string prof = make_modelled_prof(folder.path());
  const auto imported = run_msprof({"import", "-dir", prof});
  CHECK(lines_with(imported.err, kNote) == 1);
  for (const char* verb : {"import", "show", "query", "advise"}) {
    INFO(verb);
    CHECK(run_for_json({verb, "--json", "-dir", prof})["captures"][0]["unit_loads"] == "modelled");
  }
  const auto chip = run_msprof({"query", "SELECT chip FROM v_devices", "-dir", prof, "-q"});
  CHECK(contains(chip.out, "host runtime"));
  CHECK_FALSE(contains(chip.err, "modelled"));

  // Counter columns are those of the capture.
  const auto table = run_msprof({"query", "SELECT * FROM op_summary LIMIT 1", "-dir", prof});
  CHECK(contains(table.err, kNote));
  const auto times =
      run_msprof({"query", "SELECT op_name, op_type FROM op_summary LIMIT 1", "-dir", prof, "-q"});
  CHECK(times.exit_code == 0);
  CHECK_FALSE(contains(times.err, "modelled"));

  REQUIRE(run_msprof({"export", "db", "-dir", prof}).exit_code == 0);
  std::size_t databases = 0;
  for (const auto& entry : fs::directory_iterator(prof)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("msprof_") || entry.path().extension() != ".db") continue;
    const auto db = msprof::Database::open_read_only(entry.path());
    auto read = db.prepare("SELECT name FROM NPU_INFO");
    REQUIRE(read.step());
    CHECK(read.text(0) == "host runtime");
    ++databases;
  }
  CHECK(databases == 1);
}

TEST_CASE(
    "a capture of the host runtime without core metrics has_word its frequency from the model") {
  const TempFolder folder;
  JobBuilder job(folder.path(), job_name('A'));
  job.info_json("1000").net_info("net", 1);
  job.data("acl_api.0.net.1", acl_api_file({{3, 0, 100, 200}}));
  CHECK(run_for_json({"query", "--json", "-dir",
                      job.folder().string()})["captures"][0]["unit_loads"] == "modelled");
}

TEST_CASE("the store records what is modelled, and a new import of other files updates it") {
  const TempFolder folder;
  auto job = make_job(folder.path(), 'A', aicore_file(records()));
  REQUIRE(run_msprof({"import", "-dir", job.folder().string()}).exit_code == 0);
  {
    const auto db = msprof::Database::open_read_only(job.store());
    CHECK(msprof::read_meta(db, "unit_loads") == "modelled");
  }
  // The source of the loads is derived from the files: importing other files changes it.
  job.data(DataName{}, aicore_file(records()).substr(kHeaderBytes));
  CHECK(run_for_json({"import", "--json", "-dir",
                      job.folder().string()})["captures"][0]["unit_loads"] == "measured");
}

TEST_CASE("compare shows per side what is modelled, as text, JSON and HTML") {
  const TempFolder folder;
  const std::string modelled = make_modelled(folder.path(), 'A');
  const std::string also_modelled = make_modelled(folder.path(), 'B');
  const std::string measured = make_measured(folder.path(), 'C');

  const auto both = run_msprof({"compare", "-q", modelled, also_modelled});
  CHECK(lines_with(both.out, std::string("      ") + kNote) == 2);
  CHECK_FALSE(contains(both.out, "ratios are not compared"));

  const auto one = run_msprof({"compare", "-q", measured, modelled});
  CHECK(lines_with(one.out, kNote) == 1);
  CHECK(one.out.find(kNote) > one.out.find("\nNEW "));
  CHECK(contains(one.out,
                 "warning: the unit loads of NEW are modelled, those of BASE measured: ratios are "
                 "not compared\n"));
  const json document = run_for_json({"compare", "-q", measured, modelled, "--json"});
  CHECK(document["base"]["unit_loads"] == "measured");
  CHECK(document["new"]["unit_loads"] == "modelled");
  for (const json& op : document["ops"]) CHECK(op["ratios"].empty());

  const auto page = run_msprof({"compare", "-q", measured, modelled, "--format", "html"});
  CHECK(contains(page.out, std::string("<th scope=\"row\">Source</th><td>all measured</td><td>") +
                               kNote + "</td>"));
}

TEST_CASE("no rule gives advice from modelled unit loads, and all do from measured ones") {
  const TempFolder folder;
  const std::string modelled = make_modelled(folder.path(), 'A');
  const std::string measured = make_measured(folder.path(), 'B');
  const auto advice = [](const std::string& job) {
    return run_for_json({"advise", "--json", "--all", "-dir", job});
  };
  const json of_board = advice(measured);
  CHECK(has_word(list_rules(of_board, "findings"), "memory_bound_layer"));
  CHECK(has_word(list_rules(of_board, "findings"), "store_unit_limit"));
  const json of_host = advice(modelled);
  for (const char* rule :
       {"memory_bound_layer", "load_unit_limit", "weight_unit_limit", "store_unit_limit",
        "cube_array_padding", "units_idle", "vector_layer_use"}) {
    INFO(rule);
    CHECK_FALSE(has_word(list_rules(of_host, "findings"), rule));
    CHECK(has_word(list_rules(of_host, "without_data"), rule));
  }
  const auto text = run_msprof({"advise", "--all", "-q", "--lang", "en", "-dir", modelled});
  CHECK(contains(text.out,
                 "no data: memory_bound_layer (memory_bound is modelled by the host runtime, not "
                 "measured)\n"));
}

TEST_CASE("SQL that reads modelled numbers prints the note on stderr") {
  const TempFolder folder;
  const std::string modelled = make_modelled(folder.path(), 'A');
  const std::string measured = make_measured(folder.path(), 'B');
  const auto says = [](const std::string& job, const std::string& sql) {
    const auto result = run_msprof({"query", "-dir", job, sql});
    INFO(sql << "\n" << result.err);
    CHECK(result.exit_code == 0);
    CHECK_FALSE(contains(result.out, kNote));
    return contains(result.err, kNote);
  };
  // The first query also imports.
  says(modelled, "SELECT 1");
  for (const std::string sql :
       {"SELECT mac_busy_ratio FROM op_summary", "SELECT * FROM op_summary",
        "SELECT name FROM v_ops WHERE name IN (SELECT layer_name FROM op_summary WHERE dld_ratio > "
        "5)",
        "WITH a AS (SELECT ddr_total AS bytes FROM op_summary) SELECT max(bytes) FROM a",
        "SELECT Frequency_MHz FROM v_devices", "SELECT frequency_hz FROM device",
        "SELECT sum(c3) FROM task_pmu"}) {
    CHECK(says(modelled, sql));
    CHECK_FALSE(says(measured, sql));
  }
  for (const std::string sql :
       {"SELECT layer_name, time FROM op_summary", "SELECT device_id FROM v_devices",
        "SELECT count(*) FROM task_pmu", "SELECT * FROM v_tasks", "SELECT id FROM device"}) {
    CHECK_FALSE(says(modelled, sql));
  }
}
