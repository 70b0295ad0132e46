// The layout used for a board's capture: priority of the sources, match with the user's folder, and
// a report of the source by every verb.
#include <catch2/catch.hpp>

#include "golden/golden_fixture.hpp"
#include "support/lines.hpp"

using namespace msprof::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// Calls of 16 bytes: u64 api, u64 start; there is no end.
std::string board_calls() {
  return u64_bytes(7) + u64_bytes(1000) + u64_bytes(9) + u64_bytes(5000);
}

// A layout of these calls; the time unit, `scale` ns, identifies the layout that was used.
json layout(int scale, const json& match = nullptr) {
  const json time = {{"offset", 8}, {"type", "u64"}, {"scale", scale}};
  json document = {
      {"acl_api",
       {{"header_size", 0},
        {"record_size", 16},
        {"fields",
         {{"api_id", {{"offset", 0}, {"type", "u32"}}}, {"start", time}, {"end", time}}}}}};
  if (!match.is_null()) document["match"] = match;
  return document;
}

struct Board : Capture {
  fs::path config = folder.path() / "config";
  RunOptions surroundings;

  Board() {
    fs::create_directories(config / "msprof/layouts");
    surroundings.variables = {{"XDG_CONFIG_HOME", config.string()}, {"MSPROF_LAYOUT", ""}};
    job.info_json("500", Generation::hi3516).net_info("net", 1);
    job.data("acl_api.0.net.1", board_calls(), {.pid = 3, .tid = 4});
  }

  std::string write(const std::string& name, const json& document) const {
    const fs::path path = folder.path() / name;
    write_file(path, document.dump());
    return path.string();
  }
  std::string known(const std::string& name, const json& document) const {
    return write("config/msprof/layouts/" + name, document);
  }
  void set(const std::string& variable, const std::string& value) {
    for (auto& [name, old] : surroundings.variables) {
      if (name == variable) old = value;
    }
  }
  RunResult verb(std::vector<std::string> words) const {
    words.insert(words.end(), {"-dir", job.folder().string()});
    return run_msprof(words, surroundings);
  }
  // Runs import --json; returns the only capture of the document.
  json imported(int exit_code, std::vector<std::string> words = {}) const {
    words.insert(words.begin(), {"import", "--json", "-q"});
    const RunResult result = verb(words);
    INFO(result.err);
    CHECK(result.exit_code == exit_code);
    return json::parse(result.out).at("captures").at(0);
  }
  // The scale in the layout from which the store was made.
  std::string scale() const { return rows("SELECT min(start_ns) / 1000 FROM api_call").at(0); }
};

}  // namespace

TEST_CASE(
    "layouts are chosen from the command line, MSPROF_LAYOUT, the last import and the user's "
    "folder, in this order") {
  Board board;
  const std::string in_folder = board.known("a.json", layout(4, json::object()));
  CHECK(board.imported(0).at("layout") ==
        json{{"file", in_folder}, {"source", "of the layouts folder"}});
  CHECK(board.scale() == "4");

  const std::string given = board.write("given.json", layout(1));
  CHECK(board.imported(0, {"--layout", given}).at("layout").at("source") == "--layout");
  CHECK(board.scale() == "1");

  // The layout is given once: the next import remembers it, and does not search the user's folder.
  CHECK(board.imported(0).at("layout") == json{{"file", given}, {"source", "of the last import"}});
  CHECK(board.scale() == "1");

  const std::string variable = board.write("variable.json", layout(2));
  board.set("MSPROF_LAYOUT", variable);
  CHECK(board.imported(0).at("layout") == json{{"file", variable}, {"source", "MSPROF_LAYOUT"}});
  CHECK(board.scale() == "2");
  CHECK(board.imported(0, {"--layout", given}).at("layout").at("source") == "--layout");
  CHECK(board.scale() == "1");
}

TEST_CASE("a verb that imports on demand uses a layout added after the store") {
  Board board;
  CHECK(board.imported(3).at("layout").is_null());
  CHECK(board.verb({"show"}).exit_code == 3);
  board.known("a.json", layout(4, json::object()));
  const RunResult shown = board.verb({"show"});
  INFO(shown.err);
  CHECK(shown.exit_code == 0);
  CHECK(contains(shown.out, "records read with the layout "));
  CHECK(board.scale() == "4");

  board.set("MSPROF_LAYOUT", board.write("variable.json", layout(2)));
  CHECK(board.verb({"export", "summary"}).exit_code == 0);
  CHECK(board.scale() == "2");
  // Giving the same layout again does not rebuild the store.
  const auto made = fs::last_write_time(board.job.store());
  CHECK(board.verb({"query", "--json"}).exit_code == 0);
  CHECK(fs::last_write_time(board.job.store()) == made);
  const json document = json::parse(board.verb({"show", "--json"}).out).at("captures").at(0);
  CHECK(contains(document.at("layout"), "variable.json"));
}

TEST_CASE(
    "a layout of the user's folder applies to the products, chips, files and sizes of its match") {
  const auto [match, fits] = GENERATE(table<json, bool>({
      {json::object(), true},
      {{{"soc", "V200"}}, true},
      {{{"soc", "v2*"}}, true},
      {{{"soc", {"V100", "V200"}}}, true},
      {{{"soc", "V100"}}, false},
      {{{"stem", "acl_api"}}, true},
      {{{"stem", "aclmodule"}}, false},
      {{{"product", "*SS928*"}}, false},
      {{{"soc", "V200"}, {"product", "x"}}, false},
  }));
  INFO(match);
  Board board;
  board.known("a.json", layout(4, match));
  CHECK(board.imported(fits ? 0 : 3).at("layout").is_null() != fits);
}

TEST_CASE("the product of a run selects the layout") {
  Board board;
  board.known("a.json", layout(4, {{"product", "*ss928*"}}));
  CHECK(board.imported(3).at("layout").is_null());
  board.job.file("run.json",
                 R"({"schema": "msprof.run/1", "board": {"product": "HiSilicon SS928V100"}})");
  CHECK(board.imported(0).at("layout").is_object());
}

TEST_CASE("a layout whose record size does not match the file sizes is not used") {
  Board board;
  json other = layout(4, json::object());
  other["acl_api"]["record_size"] = 24;
  board.known("a.json", other);
  CHECK(board.imported(3).at("layout").is_null());
  other["acl_api"]["record_size"] = 16;
  other["acl_api"]["header_size"] = 8;
  board.known("a.json", other);
  CHECK(board.imported(3).at("layout").is_null());
  // A truncated file matches by the size in its .done file.
  board.known("a.json", layout(4, json::object()));
  board.job.data("acl_api.0.net.1", board_calls().substr(0, 20), {.file_len = 32});
  CHECK(board.imported(3).at("layout").is_object());
}

TEST_CASE("two matching layouts in the user's folder are an error that names both") {
  Board board;
  const std::string a = board.known("a.json", layout(4, json::object()));
  const std::string b = board.known("b.json", layout(5, {{"soc", "V200"}}));
  const RunResult refused = board.verb({"import"});
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, a));
  CHECK(contains(refused.err, b));
  CHECK(contains(refused.err, "[several_layouts]"));
  CHECK_FALSE(fs::exists(board.job.store()));
  CHECK(board.imported(0, {"--layout", b}).at("layout").at("file") == b);
}

TEST_CASE("an invalid layout in the user's folder, or one without match, is ignored") {
  Board board;
  write_file(board.config / "msprof/layouts/broken.json", "{");
  board.known("old.json", layout(5));
  const RunResult partial = board.verb({"import"});
  CHECK(partial.exit_code == 3);
  CHECK(contains(partial.err, "broken.json"));
  board.known("good.json", layout(4, json::object()));
  CHECK(board.imported(0).at("layout").is_object());
  CHECK(board.scale() == "4");
  // With --layout, a file of the old form is still accepted.
  CHECK(board.imported(0, {"--layout", (board.config / "msprof/layouts/old.json").string()})
            .at("layout")
            .is_object());
  CHECK(board.scale() == "5");
}

TEST_CASE("an invalid match is an error of the layout file") {
  const auto [match, what] = GENERATE(table<json, std::string>({
      {1, "'match' must be an object"},
      {{{"chip", "V200"}}, "valid: product, soc, stem"},
      {{{"soc", 200}}, "'soc' of 'match' must be a text or a list of texts"},
  }));
  Board board;
  const RunResult result =
      board.verb({"import", "--layout", board.write("l.json", layout(4, match))});
  CHECK(result.exit_code == 2);
  CHECK(contains(result.err, what));
}

TEST_CASE("an unreadable MSPROF_LAYOUT is a usage error if a layout is needed") {
  Board board;
  board.set("MSPROF_LAYOUT", (board.folder.path() / "none.json").string());
  const RunResult result = board.verb({"import"});
  CHECK(result.exit_code == 2);
  CHECK(contains(result.err, "MSPROF_LAYOUT"));
  CHECK(contains(result.err, "none.json"));

  // Records of the host runtime need no layout, so none is reported.
  JobBuilder known(board.folder.path(), "JOBKNOWN");
  known.info_json("500").data("acl_api.0.net.1", acl_api_file({{3, 0, 100, 200}}));
  const RunResult fine =
      run_msprof({"import", "--json", "-dir", known.folder().string()}, board.surroundings);
  CHECK(fine.exit_code == 0);
  CHECK(json::parse(fine.out).at("captures").at(0).at("layout").is_null());
}

TEST_CASE("the layout passed to a run is used by default") {
  Board board;
  const json run = {{"schema", "msprof.run/1"},
                    {"layout", {{"file", "ss928.json"}, {"json", layout(6)}}}};
  board.job.file("run.json", run.dump());
  board.known("a.json", layout(4, json::object()));
  CHECK(board.imported(0).at("layout") == json{{"file", "ss928.json"}, {"source", "of the run"}});
  CHECK(board.scale() == "6");
}

TEST_CASE("a layout without any file of the capture is tried once, not by every verb") {
  Board board;
  json other = {{"aicpu", layout(1).at("acl_api")}};
  other["aicpu"]["fields"] = {{"layer_id", {{"offset", 0}, {"type", "u32"}}}};
  board.set("MSPROF_LAYOUT", board.write("other.json", other));
  CHECK(board.imported(3).at("layout").is_null());
  const auto made = fs::last_write_time(board.job.store());
  CHECK(board.verb({"show"}).exit_code == 3);
  CHECK(fs::last_write_time(board.job.store()) == made);
  board.set("MSPROF_LAYOUT", board.write("good.json", layout(2)));
  CHECK(board.verb({"show"}).exit_code == 0);
  CHECK(board.scale() == "2");
}

TEST_CASE("a foreign run.json can fail an import only with a message") {
  Board board;
  const std::string deep = std::string(300'000, '[') + std::string(300'000, ']');
  const auto [text, exit_code, what] = GENERATE_COPY(table<std::string, int, std::string>({
      {"{", 3, "run.json is not JSON, not read"},
      {R"({"schema": "msprof.run/1", "layout": {"file": "x.json", "json": {"match": )" + deep +
           "}}}",
       3, "run.json is nested too deeply, not read"},
      {R"({"schema": "msprof.run/1", "layout": {"file": "x.json", "json": {"npu": 1}}})", 2,
       "x.json (of the run): unknown kind 'npu'"},
  }));
  INFO(what);
  board.job.file("run.json", text);
  const RunResult result = board.verb({"import"});
  CHECK(result.exit_code == exit_code);
  CHECK(contains(result.err, what));
  if (exit_code == 2) {
    CHECK(contains(result.err, "import --force"));
    CHECK(board.verb({"import", "--force"}).exit_code == 3);
  }
}

TEST_CASE("an import that would read less than the store is refused without --force") {
  Board board;
  board.imported(0, {"--layout", board.write("given.json", layout(1))});
  const std::string store = read_file(board.job.store());
  json other = {{"aicore", layout(1).at("acl_api")}};
  other["aicore"]["fields"] = {{"layer_id", {{"offset", 0}, {"type", "u32"}}}};
  board.set("MSPROF_LAYOUT", board.write("other.json", other));
  const RunResult refused = board.verb({"import"});
  CHECK(refused.exit_code == 5);
  CHECK(contains(refused.err, "[less_than_before]"));
  CHECK(contains(refused.err, "other.json (MSPROF_LAYOUT)"));
  CHECK(read_file(board.job.store()) == store);
  board.set("MSPROF_LAYOUT", "");
  CHECK(board.imported(3, {"--force"}).at("layout").is_null());
  CHECK(board.rows("SELECT count(*) FROM api_call") == Lines{"0"});
}

TEST_CASE("an unreadable layouts folder is reported and does not prevent the import") {
  Board board;
  board.set("XDG_CONFIG_HOME", (board.folder.path() / std::string(300, 'x')).string());
  const RunResult imported = board.verb({"import"});
  INFO(imported.err);
  CHECK(imported.exit_code == 3);
  CHECK(contains(imported.err, "layouts ignored: cannot list "));
  CHECK(contains(imported.err, "/msprof/layouts: File name too long"));
}
