// run.json: written data is read back, and files from other programs do no harm.
#include "session/run_record.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "support/files.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

RunRecord whole_record() {
  RunRecord record;
  record.msprof = "0.3.0";
  record.begin_ns = 1'763'895'972'345'000'000;
  record.end_ns = record.begin_ns + 1'500'000'000;
  record.host = "root@192.168.1.10";
  record.board = {{"system", "Linux"}, {"machine", "aarch64"}, {"product", "SS928"}};
  record.command = {"main", "--images", "100"};
  record.options = {{"--interval", "10"}, {"--all", "true"}};
  record.models = {{"models/a.om", 5'000'000'000, std::string(64, 'a')}, {"b.om", 7, ""}};
  record.application_exit_code = 3;
  record.application_signal = "SIGSEGV";
  record.application_ended_by = "time limit";
  record.seconds = 1.5;
  record.exit_code = 7;
  record.layout = {"ss928.json", "--layout", R"({"acl_api":{"record_size":24}})"};
  record.repeat = {2, 5, true};
  return record;
}

std::optional<RunRecord> read_text(const std::string& text) {
  const test::TempFolder folder;
  test::write_file(folder / "run.json", text);
  return read_run_record(folder.path());
}

}  // namespace

TEST_CASE("a run record is read back as written") {
  const test::TempFolder folder;
  const RunRecord record = whole_record();
  write_run_record(folder.path(), record);
  CHECK(test::names_in(folder.path()) == std::vector<std::string>{"run.json"});
  const auto read = read_run_record(folder.path());
  REQUIRE(read);
  CHECK(read->msprof == record.msprof);
  CHECK(read->begin_ns == record.begin_ns);
  CHECK(read->end_ns == record.end_ns);
  CHECK(read->host == record.host);
  CHECK(read->board == record.board);
  CHECK(read->board_fact("product") == "SS928");
  CHECK(read->board_fact("none").empty());
  CHECK(read->command == record.command);
  CHECK(read->options == record.options);
  REQUIRE(read->models.size() == 2);
  CHECK(read->models[0].file == "models/a.om");
  CHECK(read->models[0].bytes == 5'000'000'000);
  CHECK(read->models[0].sha256 == std::string(64, 'a'));
  CHECK(read->application_exit_code == 3);
  CHECK(read->application_signal == "SIGSEGV");
  CHECK(read->application_ended_by == "time limit");
  CHECK(read->seconds == 1.5);
  CHECK(read->exit_code == 7);
  CHECK(read->layout.file == "ss928.json");
  CHECK(read->layout.source == "--layout");
  CHECK(json::parse(read->layout.json) == json::parse(record.layout.json));
  CHECK(read->repeat.text() == "warm-up 2 of 5");
}

TEST_CASE("the document has its schema and times in UTC") {
  const json document = run_json(whole_record());
  CHECK(document.at("schema") == "msprof.run/1");
  CHECK(document.at("begin") == "2025-11-23T11:06:12.345Z");
  CHECK(document.at("end") == "2025-11-23T11:06:13.845Z");
  CHECK_FALSE(document.at("models").at(1).contains("sha256"));
  // Unknown values are omitted.
  const json empty = run_json(RunRecord());
  for (const char* const key : {"begin", "end", "host", "board", "layout", "msprof"})
    CHECK_FALSE(empty.contains(key));
}

TEST_CASE("invalid run records and those of other versions are rejected with a reason") {
  const auto [text, what] = GENERATE(table<std::string, std::string>({
      {"", "is not JSON"},
      {"{", "is not JSON"},
      {std::string("\0\xff\xfe", 3), "is not JSON"},
      {"[]", "has no schema"},
      {"null", "has no schema"},
      {"1", "has no schema"},
      {R"({"schema": 1})", "has no schema"},
      {R"({"schema": "msprof.run/2"})", "has the unknown schema msprof.run/2"},
      {R"({"schema": "msprof.run/1", "begin": 1e999})", "is not JSON"},
      {R"({"schema": "msprof.run/1", "layout": {"json": {"a": )" + std::string(200'000, '[') +
           std::string(200'000, ']') + "}}}",
       "is nested too deeply"},
      {std::string(5 << 20, ' '), "cannot be read, or is too large"},
  }));
  INFO(text.substr(0, 60));
  std::string problem;
  const test::TempFolder folder;
  test::write_file(folder / "run.json", text);
  CHECK_FALSE(read_run_record(folder.path(), &problem));
  CHECK(problem == what);
}

TEST_CASE("a folder without run.json is accepted") {
  const test::TempFolder folder;
  std::string problem;
  CHECK_FALSE(read_run_record(folder.path(), &problem));
  CHECK(problem.empty());
}

TEST_CASE("values of a wrong type are ignored") {
  const auto read = read_text(R"({"schema": "msprof.run/1", "begin": "2026-13-01T00:00:00.000",
    "end": "9999-12-31T23:59:59.999Z", "host": 5, "board": ["x"], "command": {"a": 1},
    "options": {"--a": 1, "--b": "2"}, "models": [1, {"file": 2}, {"file": "x", "bytes": -1}],
    "application": {"exit_code": 99999999999999, "seconds": "long"}, "exit_code": 1.5,
    "layout": {"file": "f", "json": "no object"}})");
  REQUIRE(read);
  CHECK(read->begin_ns == 0);
  CHECK(read->end_ns == 0);
  CHECK(read->host.empty());
  CHECK(read->board.empty());
  CHECK(read->command.empty());
  CHECK(read->options == RunRecord::Facts{{"--b", "2"}});
  REQUIRE(read->models.size() == 1);
  CHECK(read->models[0].bytes == 0);
  CHECK_FALSE(read->application_exit_code);
  CHECK(read->exit_code == 0);
  CHECK(read->layout.json.empty());
}

TEST_CASE("an excessively long text is truncated") {
  const auto read =
      read_text(R"({"schema": "msprof.run/1", "host": ")" + std::string(1'000'000, 'h') + "\"}");
  REQUIRE(read);
  CHECK(read->host == std::string(4'000, 'h'));
}

TEST_CASE("a run.json that is a link or a folder is not read") {
  const test::TempFolder folder;
  test::write_file(folder / "elsewhere.json", R"({"schema": "msprof.run/1", "host": "x"})");
  fs::create_directories(folder / "a");
  fs::create_symlink(folder / "elsewhere.json", folder / "a/run.json");
  CHECK_FALSE(read_run_record(folder / "a"));
  fs::create_directories(folder / "b/run.json");
  CHECK_FALSE(read_run_record(folder / "b"));
}

TEST_CASE("arguments that may contain a secret are hidden") {
  using Words = std::vector<std::string>;
  CHECK(without_secrets({"main", "--images", "10"}) == Words{"main", "--images", "10"});
  CHECK(without_secrets({"main", "--password", "x", "y"}) ==
        Words{"main", "--password", "***", "y"});
  CHECK(without_secrets({"--api-token=x", "DB_PASSWD=y", "a=b"}) ==
        Words{"--api-token=***", "DB_PASSWD=***", "a=b"});
  CHECK(without_secrets({"passport.jpg", "--secret"}) == Words{"passport.jpg", "--secret"});
  CHECK(without_secrets({"--api-key", "x", "--api_key=y", "ACCESS_KEY=z", "--key", "k.pem"}) ==
        Words{"--api-key", "***", "--api_key=***", "ACCESS_KEY=***", "--key", "k.pem"});
  // A value that looks like an option belongs to the option before it.
  CHECK(without_secrets({"--password", "--x", "--y"}) == Words{"--password", "***", "--y"});
}

TEST_CASE("values set by env and logins in addresses are hidden") {
  using Words = std::vector<std::string>;
  CHECK(without_secrets({"env", "-i", "A=b", "C=", "main", "x=1"}) ==
        Words{"env", "-i", "A=***", "C=***", "main", "x=1"});
  CHECK(without_secrets({"/usr/bin/env", "python3", "a=b"}) ==
        Words{"/usr/bin/env", "python3", "a=b"});
  CHECK(without_secrets({"--url=https://me:word@host:1/x@y", "ftp://me@host", "http://host/a@b"}) ==
        Words{"--url=https://***@host:1/x@y", "ftp://***@host", "http://host/a@b"});
}

TEST_CASE("times are shown to the second, and times out of range are not shown") {
  CHECK(second_text(1'763'895'972'345'000'000) == "2025-11-23 11:06:12 UTC");
  CHECK(second_text(0) == "1970-01-01 00:00:00 UTC");
  CHECK(second_text(-1).empty());
}

TEST_CASE("the number of a repeated run is read only if it is valid") {
  const auto repeat = [](const std::string& value) {
    const auto read = read_text(R"({"schema":"msprof.run/1","repeat":)" + value + "}");
    REQUIRE(read);
    return read->repeat.text();
  };
  CHECK(repeat(R"({"run":1,"of":3,"warm_up":false})") == "run 1 of 3");
  CHECK(repeat(R"({"run":3,"of":3})") == "run 3 of 3");
  for (const char* wrong :
       {R"({"run":4,"of":3})", R"({"run":0,"of":3})", R"({"run":-1,"of":3})", R"({"of":3})",
        R"({"run":"1","of":3})", R"({"run":1e30,"of":1e31})", "7", "null", "[]"}) {
    INFO(wrong);
    CHECK(repeat(wrong).empty());
  }
}
