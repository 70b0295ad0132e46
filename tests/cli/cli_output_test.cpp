// --output, read-only captures, the use of stdout and stderr, the JSON documents.
#include <catch2/catch.hpp>
#include <map>

#include "cli/cli_fixture.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

TEST_CASE("with --output nothing in the capture changes") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  const std::string before = fingerprint(job.folder());
  const std::string dir = job.folder().string();
  const std::string out = (folder / "out").string();
  CHECK(run_msprof({"import", "-dir", dir, "--output", out}).exit_code == 0);
  CHECK(names_in(out) == Words{"log", "sqlite"});
  CHECK(run_msprof({"export", "timeline", "-dir", dir, "--output", out}).exit_code == 0);
  CHECK(run_msprof({"export", "summary", "-dir", dir, "--output", out}).exit_code == 0);
  CHECK(run_msprof({"show", "-dir", dir, "--output", out}).exit_code == 0);
  CHECK(names_in(out) == Words{"log", "sqlite", "summary", "timeline"});
  CHECK(names_in(folder / "out/summary").size() == 3);
  CHECK(names_in(folder / "out/timeline").size() == 2);
  CHECK(fingerprint(job.folder()) == before);
}

TEST_CASE("with --output each of several captures has a separate folder") {
  const TempFolder folder;
  make_face(folder / "a", "JOBA");
  make_face(folder / "b", "JOBA");
  make_face(folder / "b", "JOBB");
  const std::string out = (folder / "out").string();
  CHECK(run_msprof(
            {"import", "-dir", (folder / "a").string(), (folder / "b").string(), "--output", out})
            .exit_code == 0);
  CHECK(names_in(out) == Words{"JOBA", "JOBA~2", "JOBB"});
}

TEST_CASE("an unwritable folder is reported with --output, exit code 5") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  write_file(folder / "blocked", "a file in its place");
  const Words verb = GENERATE(as<Words>(), Words{"import"}, Words{"export", "timeline"},
                              Words{"export", "summary"}, Words{"show"});
  Words words = verb;
  words.insert(words.end(),
               {"-dir", job.folder().string(), "--output", (folder / "blocked").string()});
  const auto result = run_msprof(words);
  CHECK(result.exit_code == 5);
  CHECK(contains(result.err, (folder / "blocked").string()));
  CHECK(contains(result.err, "--output"));
  CHECK(result.out.empty());
  CHECK(read_file(folder / "blocked") == "a file in its place");
}

TEST_CASE("a file in place of the product folder also gives exit code 5") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  write_file(job.folder() / "summary", "a file in its place");
  const auto result = run_msprof({"export", "summary", "-dir", job.folder().string()});
  CHECK(result.exit_code == 5);
  CHECK(contains(result.err, (job.folder() / "summary").string()));
  CHECK(contains(result.err, "--output"));
}

TEST_CASE("an unwritable layout template gives exit code 5") {
  const TempFolder folder;
  JobBuilder job(folder.path());
  job.info_json("500").net_info("net", 1).data("acl_api.0.net.1", "something else");
  const auto result = run_msprof({"import", "-dir", job.folder().string(), "--layout-template",
                                  (folder / "missing/layout.json").string()});
  CHECK(result.exit_code == 5);
}

TEST_CASE("messages go to stderr and only data to stdout") {
  const TempFolder folder;
  const std::string dir = make_face(folder.path(), "JOBA").folder().string();
  for (const Words& verb :
       {Words{"import"}, Words{"export", "timeline"}, Words{"export", "summary"}}) {
    Words words = verb;
    words.insert(words.end(), {"-dir", dir});
    const auto result = run_msprof(words);
    CHECK(result.out.empty());
    CHECK_FALSE(result.err.empty());
    // No progress and no colours if stderr is not a terminal.
    CHECK_FALSE(contains(result.err, "\r"));
    CHECK_FALSE(contains(result.err, "\x1b"));
  }
  const auto show = run_msprof({"show", "-dir", dir});
  CHECK(show.err.empty());
  CHECK(contains(show.out, "conv1"));
  CHECK_FALSE(contains(show.out, "\x1b"));
}

TEST_CASE("a stdout that takes nothing is a write error, one that is closed as well") {
  const TempFolder folder;
  const std::string dir = make_face(folder.path(), "JOBA").folder().string();
  const std::string show = "'" + msprof_path() + "' show -q -dir '" + dir + "'";
  const auto full = run_program("/bin/sh", {"-c", show + " > /dev/full"});
  CHECK(full.exit_code == 5);
  CHECK(contains(full.err, "standard output"));
  CHECK(run_program("/bin/sh", {"-c", show + " >&-"}).exit_code == 5);
  CHECK(run_program("/bin/sh", {"-c", show + " <&- 2>&-"}).exit_code == 0);
}

TEST_CASE("with streams closed no message gets into a product") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  const std::string run =
      "'" + msprof_path() + "' export summary -dir '" + job.folder().string() + "'";
  const auto summary = [&] {
    std::string all;
    for (const auto& name : names_in(job.folder() / "summary")) {
      all += read_file(job.folder() / "summary" / name);
    }
    return all;
  };
  REQUIRE(run_program("/bin/sh", {"-c", run}).exit_code == 0);
  const std::string good = summary();
  std::filesystem::remove_all(job.folder() / "sqlite");
  CHECK(run_program("/bin/sh", {"-c", run + " -v <&- 2>&-"}).exit_code == 0);
  CHECK(summary() == good);
}

TEST_CASE("-q leaves warnings and errors") {
  const TempFolder folder;
  const std::string good = make_face(folder.path(), "JOBA").folder().string();
  const std::string bad = make_partial(folder.path(), "JOBB").folder().string();
  for (const Words& verb :
       {Words{"import"}, Words{"export", "timeline"}, Words{"export", "summary"}, Words{"show"}}) {
    Words words = verb;
    words.insert(words.end(), {"-q", "-dir", good});
    CHECK(run_msprof(words).err.empty());
  }
  CHECK(contains(run_msprof({"import", "-q", "-dir", bad}).err, "PARTIAL"));
}

TEST_CASE("--excel puts a byte order mark before every CSV, which is else the same") {
  const std::string mark = "\xEF\xBB\xBF";
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  const std::string dir = job.folder().string();
  const auto tables = [&](const Words& words) {
    CHECK(run_msprof(words).exit_code == 0);
    std::map<std::string, std::string> files;
    for (const auto& name : names_in(job.folder() / "summary"))
      files[name] = read_file(job.folder() / "summary" / name);
    return files;
  };
  for (const char* what : {"summary", "all"}) {
    const auto plain = tables({"export", what, "-q", "-dir", dir});
    const auto marked = tables({"export", what, "-q", "-dir", dir, "--excel"});
    REQUIRE(plain.size() == marked.size());
    REQUIRE_FALSE(plain.empty());
    for (const auto& [name, text] : plain) CHECK(marked.at(name) == mark + text);
  }
  const std::string sql = "SELECT name FROM v_ops";
  const auto answer = run_msprof({"query", sql, "-q", "-dir", dir, "--format", "csv"});
  CHECK(run_msprof({"query", sql, "-q", "-dir", dir, "--excel"}).out == mark + answer.out);
  CHECK(run_msprof({"query", "SELECT 1 AS n WHERE 0", "-q", "-dir", dir, "--excel"}).out ==
        mark + "n\n");
  const auto schema = run_msprof({"query", "--schema", "--format", "csv"});
  CHECK(run_msprof({"query", "--schema", "--excel"}).out == mark + schema.out);
  make_face(folder.path(), "JOBB");
  const Words compare = {"compare", "-q", dir, (folder / "JOBB").string(), "--format", "csv"};
  Words excel = compare;
  excel.insert(excel.end(), {"--excel", "--csv", (folder / "c.csv").string()});
  const auto changes = run_msprof(compare);
  CHECK(run_msprof(excel).out == mark + changes.out);
  CHECK(read_file(folder / "c.csv") == mark + changes.out);

  for (const Words& words : {Words{"export", "summary", "-dir", dir, "--format", "json", "--excel"},
                             Words{"query", sql, "-dir", dir, "--format", "json", "--excel"},
                             Words{"query", sql, "-dir", dir, "--json", "--excel"},
                             Words{"compare", dir, (folder / "JOBB").string(), "--excel"}}) {
    const auto result = run_msprof(words);
    CHECK(result.exit_code == 2);
    CHECK(contains(result.err, "--excel"));
  }
}

TEST_CASE("import --json is one versioned document with the facts of the verdict") {
  const TempFolder folder;
  const auto job = make_partial(folder.path(), "JOBB");
  const auto result = run_msprof({"import", "--json", "-dir", job.folder().string()});
  CHECK(result.exit_code == 3);
  const auto document = nlohmann::json::parse(result.out);
  CHECK(document.at("schema") == "msprof.import/2");
  CHECK(document.at("exit_code") == 3);
  const auto& capture = document.at("captures").at(0);
  CHECK(capture.at("folder") == job.folder().string());
  CHECK(capture.at("store") == job.store().string());
  CHECK(capture.at("verdict") == "partial");
  CHECK(capture.at("files") == 3);
  CHECK(capture.at("kinds") == nlohmann::json::parse(R"({
      "aicore": {"files": 1, "records": 1}, "info.json": {"files": 1, "records": 1},
      "net.info": {"files": 1, "records": 1}})"));
  CHECK(capture.at("skipped") == nlohmann::json::object());
  CHECK(capture.at("trailing_bytes") == 0);
  CHECK(capture.at("missing_done") == nlohmann::json{"data/aicore.0.net.1.1.1.0"});
  CHECK(capture.at("empty_products") == nlohmann::json{"summary acl_statistic", "timeline acl"});
  CHECK(capture.at("not_read").empty());
  bool found = false;
  for (const auto& finding : capture.at("findings")) {
    found = found ||
            (finding.at("severity") == "partial" && finding.at("category") == "missing .done" &&
             finding.at("file") == "data/aicore.0.net.1.1.1.0" && finding.at("count") == 1);
  }
  CHECK(found);
}

TEST_CASE("show --json is one versioned document with numbers as numbers") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  const auto result = run_msprof({"show", "--json", "-dir", job.folder().string()});
  CHECK(result.exit_code == 0);
  const auto document = nlohmann::json::parse(result.out);
  CHECK(document.at("schema") == "msprof.show/2");
  CHECK(document.at("exit_code") == 0);
  const auto& capture = document.at("captures").at(0);
  CHECK(capture.at("verdict") == "without");  // an api id without a name
  CHECK(capture.at("capture").at("model") == "face");
  Words names;
  for (const auto& table : capture.at("tables")) names.push_back(table.at("name"));
  CHECK(names == Words{"op_summary", "op_statistic", "acl_statistic", "frequency"});
  const auto& layers = capture.at("tables").at(0).at("rows");
  REQUIRE(layers.size() == 4);
  CHECK(layers[0].at("Time(us)") == 6.001);
  CHECK(layers[0].at("DDR Read(byte)") == 4097);
  CHECK(layers[2].at("Mac Busy Ratio") == "N/A");
  CHECK(capture.at("tables").at(3).at("rows").at(0).at("Frequency(MHz)") == 500);
}

TEST_CASE("with --json stdout is a document with the error even if nothing could be done") {
  const TempFolder folder;
  const std::string missing = (folder / "missing").string();
  for (const char* verb : {"import", "show"}) {
    const auto result = run_msprof({verb, "--json", "-dir", missing});
    CHECK(result.exit_code == 4);
    CHECK(contains(result.err, missing));
    const auto document = nlohmann::json::parse(result.out);
    CHECK(document.at("schema") == std::string("msprof.") + verb + "/2");
    CHECK(document.at("captures").empty());
    CHECK(document.at("exit_code") == 4);
    CHECK(contains(document.at("error"), missing));
  }
}

TEST_CASE("with --json a capture that fails among others is named with its error") {
  const TempFolder folder;
  const auto good = make_face(folder.path(), "JOBA");
  std::filesystem::create_directories(folder / "empty");
  for (const char* verb : {"import", "show"}) {
    const auto result =
        run_msprof({verb, "--json", "-dir", (folder / "empty").string(), good.folder().string()});
    CHECK(result.exit_code == 4);
    const auto document = nlohmann::json::parse(result.out);
    REQUIRE(document.at("captures").size() == 2);
    const auto& failed = document.at("captures").at(0);
    CHECK(failed.at("folder") == (folder / "empty").string());
    CHECK(contains(failed.at("error"), "not a capture"));
    CHECK(document.at("captures").at(1).at("verdict") == "without");
  }
}

TEST_CASE("wrong usage has no document") {
  const auto result = run_msprof({"show", "--json", "--top", "0"});
  CHECK(result.exit_code == 2);
  CHECK(result.out.empty());
}
