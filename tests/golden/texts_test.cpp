// Texts that are not UTF-8: names in GBK, messages truncated within a character, a NUL in a name.
// Every TEXT of every database must be valid, as Python and other programs require.
#include <catch2/catch.hpp>

#include "base/text.hpp"
#include "golden/cann_fixture.hpp"
#include "golden/golden_fixture.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;
namespace fs = std::filesystem;

namespace {

const std::string kGbk = "\xCB\xE3\xD7\xD3";       // "operator" in Chinese
const std::string kOtherGbk = "\xCA\xE4\xC8\xEB";  // "input"
const std::string kBad = "\xEF\xBF\xBD";           // U+FFFD
const std::string kFourBad = kBad + kBad + kBad + kBad;

// "table.column: text" of texts that are not UTF-8 or contain a NUL, in all tables of a database.
Lines unreadable_texts(const fs::path& db) {
  Lines found;
  for (const std::string& table :
       query(db, "SELECT name FROM sqlite_master WHERE type = 'table'")) {
    for (const std::string& column :
         query(db, "SELECT name FROM pragma_table_info('" + table + "')")) {
      const std::string cell = "\"" + column + "\"";
      for (const std::string& text :
           query(db, "SELECT hex(" + cell + "), " + cell + " FROM " + table + " WHERE typeof(" +
                         cell + ") = 'text'")) {
        const std::size_t bar = text.find('|');
        bool has_nul = false;
        for (std::size_t i = 0; i + 1 < bar; i += 2) has_nul = has_nul || text.substr(i, 2) == "00";
        if (has_nul || !msprof::is_valid_utf8(text.substr(bar + 1)))
          found.push_back(table + "." + column + ": " + text);
      }
    }
  }
  return found;
}

}  // namespace

TEST_CASE("invalid UTF-8 of a PROF folder is repaired in every database, and counted") {
  ProfSetup setup;
  setup.pid_name = kGbk;
  setup.info["hostname"] = "\"" + kOtherGbk + "\\u0000\"";
  ProfCapture run(setup);
  run.scene.launch({kGbk, "Add", Core::aiv, 40}, {kThread, 1000, 2000},
                   device_task(1, 10'000, 20'000));
  run.scene.launch({kOtherGbk, "Add" + std::string(1, '\0') + "x", Core::aiv, 40},
                   {kThread, 3000, 4000}, device_task(2, 30'000, 40'000));
  // After 154 bytes, two of the last character's three bytes fit.
  run.scene.mark(kThread, 5000, 6000, std::string(154, 'x') + "\xE4\xB8\xAD");
  run.products();
  REQUIRE(run.run({"export", "db", "-q"}).exit_code == 0);
  CHECK(unreadable_texts(run.prof.store()).empty());
  const fs::path db = run.prof.folder() / "msprof_20231114221320.db";
  CHECK(unreadable_texts(db).empty());
  const RunResult cluster = run_msprof(
      {"cluster", run.prof.folder().string(), "--output", (run.folder / "out").string()});
  INFO(cluster.err);
  std::size_t databases = 0;
  for (const auto& entry : fs::recursive_directory_iterator(run.folder / "out")) {
    const bool is_database =
        entry.path().extension() == ".db" || entry.path().extension() == ".part";
    if (!entry.is_regular_file() || !is_database) continue;
    ++databases;
    CHECK(unreadable_texts(entry.path()).empty());
  }
  CHECK(databases > 0);

  CHECK(run.rows("SELECT name.text, type.text FROM op JOIN name ON name.id = name_id JOIN name AS"
                 " type ON type.id = type_name_id ORDER BY op.id") ==
        Lines{kFourBad + "|Add", kFourBad + "|Add"});
  // Equal texts share an id, even if they come from different sources.
  CHECK(run.rows("SELECT count(*), count(DISTINCT text), max(id) = count(*) FROM name") ==
        run.rows("SELECT count(*), count(*), 1 FROM name"));
  CHECK(run.rows("SELECT text FROM name JOIN user_range ON message_name_id = name.id") ==
        Lines{std::string(154, 'x') + kBad + kBad});
  CHECK(query(db, "SELECT hostName FROM HOST_INFO") == Lines{kFourBad});
  CHECK(run.rows("SELECT severity, count > 0 FROM import_log WHERE id = 'repaired_texts'") ==
        Lines{"note|1"});
  // A store with such names is up to date and is not imported again.
  const std::string before = fingerprint(run.prof.folder() / "sqlite");
  CHECK(run.run({"export", "summary", "-q"}).exit_code == 0);
  CHECK(fingerprint(run.prof.folder() / "sqlite") == before);
}

TEST_CASE("invalid UTF-8 of a JOB folder is repaired in its store, and counted") {
  Capture capture;
  JobBuilder& job = capture.job;
  const std::string model = "m" + kGbk;
  job.file("info.json.0", "{\"DeviceInfo\": [{\"aic_frequency\": \"1000\"}, {\"soc_version\": \"" +
                              kGbk + "\"}]}");
  job.net_info(model, 1).layer_info(
      model, 1, {{1, 0, "Conv" + kOtherGbk, "AA_CORE", kGbk + std::string(1, '\0') + "x", ""}});
  job.data(DataName{.model = model}, std::string(112 * 3, '\1'));
  job.data("acl_api.0." + model + ".1", acl_api_file({{3, 0, 100, 7100}}), {.pid = 1, .tid = 2});
  job.file("data/" + kGbk + ".txt", "x");
  job.file("run.json", "{\"schema\": \"msprof.run/1\", \"host\": \"" + kGbk +
                           "\", \"command\": [\"main\", \"" + kGbk + "\"]}");
  const fs::path layout = capture.folder / ("layout" + kGbk + ".json");
  write_file(layout,
             R"({"aicore": {"header_size": 0, "record_size": 112, "fields": {
                 "layer_id": {"offset": 110, "type": "u8"}, "start": {"offset": 0, "type": "u16"},
                 "total_cycles": {"offset": 8, "type": "u16"}}}})");
  const RunResult result = capture.run({"import", "--layout", layout.string()});
  INFO(result.err << result.out);
  REQUIRE(result.exit_code == 0);
  CHECK(unreadable_texts(job.store()).empty());
  CHECK(capture.rows("SELECT text FROM model JOIN name ON name.id = name_id") ==
        Lines{"m" + kFourBad});
  CHECK(capture.rows("SELECT text FROM device JOIN name ON name.id = chip_name_id") ==
        Lines{kFourBad});
  CHECK(capture.rows("SELECT frequency_hz FROM device") == Lines{"1000000000"});
  CHECK(capture.rows("SELECT severity, count > 0 FROM import_log WHERE id = 'repaired_texts'") ==
        Lines{"note|1"});
  const RunResult shown = capture.run({"query", "--json"});
  CHECK(shown.exit_code == 0);
  CHECK(nlohmann::json::parse(shown.out, nullptr, false).is_object());
  const std::string before = fingerprint(job.folder() / "sqlite");
  CHECK(capture.run({"export", "summary", "-q"}).exit_code == 0);
  CHECK(fingerprint(job.folder() / "sqlite") == before);
}
