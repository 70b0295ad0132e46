// msprof mcp with malformed and hostile requests, captures and paths: each gets an error, and the
// server continues.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "cli/cli_fixture.hpp"
#include "mcp/mcp_client.hpp"
#include "msprof/mcp_tools.hpp"
#include "session/capture_walk.hpp"

using namespace msprof::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// Root with a capture, and another capture outside of it.
struct McpRoot {
  TempFolder folder;
  fs::path root = folder / "root";
  JobBuilder job;
  JobBuilder outside;

  McpRoot() : job(make_root(folder), "JOBA"), outside(folder.path(), "JOBSECRET") {
    add_face(job);
    add_face(outside);
    write_file(folder / "secret.txt", "the secret");
  }
  static fs::path make_root(const TempFolder& folder) {
    fs::create_directories(folder / "root");
    return folder / "root";
  }
};

void check_refused(McpClient& client, const std::string& tool, const json& arguments,
                   std::string_view part) {
  const json result = client.call(tool, arguments);
  INFO(tool << " " << arguments.dump() << "\n" << result.dump());
  CHECK(result["isError"] == true);
  CHECK(contains(result["structuredContent"]["error"], part));
}

}  // namespace

TEST_CASE("malformed messages get an error and the server continues") {
  const McpRoot captures;
  McpClient client({captures.root});
  const auto check_error = [&](const std::string& line, int code) {
    INFO(line.substr(0, 200));
    client.send(line);
    const json answer = client.receive_json();
    INFO(answer.dump());
    CHECK(answer["error"]["code"] == code);
    CHECK(answer.dump().size() < 1000);
    CHECK(client.request("ping").contains("result"));
  };
  check_error("{", -32700);
  check_error("nonsense", -32700);
  check_error(std::string("{\"jsonrpc\":\"2.0\",\0\"id\":1}", 25), -32700);
  check_error("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}", -32700);
  check_error(std::string(200, '['), -32700);
  check_error(std::string(900'000, '['), -32700);
  check_error(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":)" + std::string(500, '{'),
              -32700);
  check_error("[]", -32600);
  check_error(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", -32600);
  check_error("7", -32600);
  check_error(R"({"jsonrpc":"1.0","id":1,"method":"ping"})", -32600);
  check_error(R"({"id":1,"method":"ping"})", -32600);
  check_error(R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600);
  check_error(R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", -32600);
  check_error(R"({"jsonrpc":"2.0","id":{},"method":"ping"})", -32600);
  check_error(R"({"jsonrpc":"2.0","id":")" + std::string(5000, 'i') + R"(","method":"ping"})",
              -32600);
  check_error(R"({"jsonrpc":"2.0","id":1})", -32600);
  std::string members = R"({"jsonrpc":"2.0","id":1,"method":"ping")";
  for (int i = 0; i < 30'000; ++i) members += ",\"" + std::to_string(i) + "\":0";
  check_error(members + "}", -32600);
  check_error(
      R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"msprof://docs/)" +
          std::string(9000, '0') + "\"}}",
      -32602);
  check_error(R"({"jsonrpc":"2.0","id":1,"method":7})", -32600);
  check_error(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})", -32602);
  check_error(R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(9000, 'm') + "\"}", -32601);
  check_error(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}})", -32602);
  check_error(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})", -32602);
}

TEST_CASE("a line of many megabytes is refused and the next one is answered") {
  const McpRoot captures;
  McpClient client({captures.root});
  for (int i = 0; i < 2; ++i) {
    client.send(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":")" +
                std::string(20 << 20, 'x') + "\"}}");
    CHECK(client.receive_json()["error"]["code"] == -32600);
    CHECK(client.request("ping").contains("result"));
  }
}

TEST_CASE("inputs of the wrong type, and unknown ones, are errors of the call") {
  const McpRoot captures;
  McpClient client({captures.root});
  check_refused(client, "open", json::object(), "path: is missing");
  check_refused(client, "open", {{"path", 7}}, "path: expected a string");
  check_refused(client, "open", {{"path", json::array({"JOBA"})}}, "expected a string");
  check_refused(client, "open", {{"path", "JOBA"}, {"mode", "w"}}, "mode: this tool has no such");
  check_refused(client, "open", {{"path", std::string("JOBA\0x", 6)}}, "NUL");
  check_refused(client, "open", {{"path", std::string(100'000, 'x')}}, "too long");
  check_refused(client, "open", {{"path", std::string(5000, 'x')}}, "outside");
  check_refused(client, "summary", {{"path", "JOBA"}, {"top", "5"}}, "top: expected an integer");
  check_refused(client, "summary", {{"path", "JOBA"}, {"top", 0}}, "top: expected an integer");
  check_refused(client, "summary", {{"path", "JOBA"}, {"top", 1e300}}, "top: expected an integer");
  check_refused(client, "query", {{"path", "JOBA"}}, "sql");
  check_refused(client, "query", {{"path", "JOBA"}, {"sql", "SELECT 1"}, {"schema", true}}, "sql");
  check_refused(client, "query", {{"path", "JOBA"}, {"schema", 1}}, "true or false");
  check_refused(client, "timeline", {{"path", "JOBA"}, {"from_us", -1}}, "from_us");
  check_refused(client, "timeline", {{"path", "JOBA"}, {"from_us", "0); DROP"}}, "from_us");
  check_refused(client, "open", {{"path", "JOBA"}, {"cursor", "x"}}, "cursor");
  check_refused(client, "open", {{"path", "JOBA"}, {"cursor", "1.99999999999999999999"}}, "cursor");
  check_refused(client, "open", {{"path", "JOBA"}, {"max_bytes", 1}}, "max_bytes");
  check_refused(client, "table", {{"path", "JOBA"}, {"name", "--help"}}, "no table");
  CHECK(client.ask("open", {{"path", "JOBA"}})["captures"].size() == 1);
}

TEST_CASE("paths outside of the roots are refused, also through links and dots") {
  const McpRoot captures;
  McpClient client({captures.root});
  const fs::path root = captures.root;
  fs::create_directory_symlink(captures.outside.folder(), root / "JOBLINK");
  fs::create_directory_symlink(root / "JOBA", root / "JOBINSIDE");
  for (const std::string& path :
       {captures.outside.folder().string(), std::string("../JOBSECRET"), std::string("JOBLINK"),
        std::string("JOBA/../../JOBSECRET"), std::string("/etc"), std::string("/"),
        std::string(".."), root.string() + "x", std::string("/nonexistent/secret")}) {
    check_refused(client, "open", {{"path", path}}, "outside of the folders");
    check_refused(client, "compare", {{"base", {"JOBA"}}, {"new", {path}}}, "outside");
    check_refused(client, "list", {{"folder", path}}, "outside");
  }
  CHECK(client.ask("open", {{"path", "JOBINSIDE"}})["captures"].size() == 1);
  CHECK_FALSE(fs::exists(captures.outside.store()));
  // list does not follow the links.
  for (const json& page : client.ask_all("list", json::object()))
    CHECK_FALSE(contains(page.dump(), "JOBSECRET"));
}

TEST_CASE("a capture whose store or files are links to the outside is refused") {
  const McpRoot captures;
  REQUIRE(run_msprof({"import", "-q", "-dir", captures.outside.folder().string()}).exit_code == 0);
  McpClient client({captures.root});
  const fs::path store = captures.job.folder() / "sqlite";
  fs::create_directory_symlink(captures.outside.folder() / "sqlite", store);
  check_refused(client, "open", {{"path", "JOBA"}}, "a link that leads out");
  check_refused(client, "query", {{"path", "JOBA"}, {"sql", "SELECT 1"}}, "a link that leads out");
  const json listed = client.ask("list", json::object());
  CHECK(listed["links_lead_out"] == json::array({captures.job.folder().string()}));
  fs::remove(store);
  fs::create_directories(store);
  fs::create_symlink(captures.outside.store(), store / "msprof.db");
  check_refused(client, "advise", {{"path", "JOBA"}}, "a link that leads out");
  check_refused(client, "advise", {{"path", "."}}, "a link that leads out");
  fs::remove_all(store);
  fs::create_symlink(captures.folder / "secret.txt", captures.job.folder() / "run.json");
  check_refused(client, "summary", {{"path", "JOBA"}}, "a link that leads out");
  fs::remove(captures.job.folder() / "run.json");
  // A link inside of the roots to a folder with a link that leads out.
  fs::create_directories(captures.root / "between");
  fs::create_directory_symlink(captures.outside.folder() / "data", captures.root / "between/data");
  fs::create_directory_symlink(captures.root / "between", captures.job.folder() / "more");
  check_refused(client, "open", {{"path", "JOBA"}}, "a link that leads out");
  fs::remove(captures.job.folder() / "more");
  CHECK(client.ask("open", {{"path", "JOBA"}})["captures"].size() == 1);
}

TEST_CASE("SQL cannot write, attach, or read files") {
  const McpRoot captures;
  McpClient client({captures.root});
  client.ask("open", {{"path", "JOBA"}});
  const std::string before = read_file(captures.job.store());
  const std::string outside = captures.outside.folder().string();
  for (const std::string& sql :
       {std::string("DELETE FROM task"), std::string("UPDATE meta SET value = 1"),
        std::string("DROP TABLE task"), std::string("CREATE TABLE x (y)"),
        std::string("INSERT INTO name VALUES (1, 2)"), std::string("PRAGMA journal_mode = DELETE"),
        "ATTACH '" + outside + "/x.db' AS x", std::string("VACUUM INTO '") + outside + "/y.db'",
        std::string("SELECT load_extension('x')"), std::string("SELECT readfile('/etc/passwd')"),
        std::string("SELECT writefile('x', 'y')"), std::string("SELECT 1; DELETE FROM task"),
        std::string("-"), std::string("--help"), std::string("nonsense"), std::string("")}) {
    CAPTURE(sql);
    const json result = client.call("query", {{"path", "JOBA"}, {"sql", sql}});
    INFO(result.dump());
    CHECK(result["isError"] == true);
    CHECK(result["structuredContent"]["error"].is_string());
  }
  CHECK(read_file(captures.job.store()) == before);
  CHECK_FALSE(fs::exists(captures.outside.folder() / "x.db"));
  CHECK_FALSE(fs::exists(captures.outside.folder() / "y.db"));
}

TEST_CASE("a damaged store ends only its own call") {
  const McpRoot captures;
  McpClient client({captures.root});
  client.ask("open", {{"path", "JOBA"}});
  std::string bytes = read_file(captures.job.store());
  for (std::size_t at = 4096; at < bytes.size(); at += 7) bytes[at] = static_cast<char>(at);
  write_file(captures.job.store(), bytes);
  client.call("query", {{"path", "JOBA"}, {"sql", "SELECT * FROM v_tasks"}});
  CHECK(client.request("ping").contains("result"));
}

TEST_CASE("a cancelled call ends its searches for captures and for links") {
  const McpRoot captures;
  msprof::Roots roots({captures.root.string()});
  CHECK(roots.find_way_out(captures.root).empty());
  CHECK(msprof::walk_captures(captures.root, [&] { roots.check(); }).captures.size() == 1);
  roots.set_check([] { throw msprof::Error(msprof::Exit::interrupted, "cancelled"); });
  CHECK_THROWS_WITH(roots.find_way_out(captures.root), "cancelled");
  CHECK_THROWS_WITH(msprof::walk_captures(captures.root, [&] { roots.check(); }), "cancelled");
}
