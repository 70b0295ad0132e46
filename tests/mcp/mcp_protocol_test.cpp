// msprof mcp: handshake, versions, methods, notifications, cancellation, and how it ends.
#include <signal.h>

#include <catch2/catch.hpp>
#include <set>

#include "cli/cli_fixture.hpp"
#include "mcp/mcp_client.hpp"
#include "msprof/mcp_tools.hpp"
#include "support/eventually.hpp"

using namespace msprof::test;
using nlohmann::json;

namespace {

json meta(const std::string& version) {
  return {{"_meta",
           {{"io.modelcontextprotocol/protocolVersion", version},
            {"io.modelcontextprotocol/clientCapabilities", json::object()}}}};
}

json with_meta(json params) {
  params.update(meta("2026-07-28"));
  return params;
}

int error_code(const json& answer) {
  INFO(answer.dump());
  REQUIRE(answer.contains("error"));
  CHECK(answer["error"]["message"].is_string());
  return answer["error"]["code"];
}

json handshake(McpClient& client, const std::string& version) {
  return client.request("initialize", {{"protocolVersion", version},
                                       {"capabilities", json::object()},
                                       {"clientInfo", {{"name", "t"}, {"version", "1"}}}});
}

}  // namespace

TEST_CASE("initialize agrees on the version of the client, else on the newest with a handshake") {
  const TempFolder folder;
  for (const auto& [asked, agreed] :
       std::vector<std::pair<std::string, std::string>>{{"2025-11-25", "2025-11-25"},
                                                        {"2025-06-18", "2025-06-18"},
                                                        {"1999-01-01", "2025-11-25"},
                                                        {"2026-07-28", "2025-11-25"}}) {
    CAPTURE(asked);
    McpClient client({folder.path()}, "");
    const json result = handshake(client, asked)["result"];
    CHECK(result["protocolVersion"] == agreed);
    CHECK(result["serverInfo"]["name"] == "msprof");
    CHECK(result["capabilities"].contains("tools"));
    CHECK(result["capabilities"].contains("resources"));
    CHECK(contains(result["instructions"], folder.path().string()));
  }
}

TEST_CASE("requests of the newest version need no handshake and name it themselves") {
  const TempFolder folder;
  McpClient client({folder.path()}, "");
  const json found = client.request("server/discover", meta("2026-07-28"))["result"];
  CHECK(found["supportedVersions"] == json({"2026-07-28", "2025-11-25", "2025-06-18"}));
  CHECK(found["resultType"] == "complete");
  CHECK(found["ttlMs"].get<int>() >= 0);
  CHECK(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "msprof");
  CHECK(client.request("tools/list", meta("2026-07-28"))["result"]["cacheScope"] == "public");
  const json called = client.request(
      "tools/call", with_meta({{"name", "list"}, {"arguments", json::object()}}))["result"];
  CHECK(called["resultType"] == "complete");
  CHECK(called["isError"] == false);

  const json unknown = client.request("tools/list", meta("1900-01-01"));
  CHECK(error_code(unknown) == -32022);
  CHECK(unknown["error"]["data"]["supported"][0] == "2026-07-28");
  CHECK(unknown["error"]["data"]["requested"] == "1900-01-01");
  CHECK(error_code(client.request(
            "tools/list",
            {{"_meta", {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"}}}})) == -32602);
  // No version and no handshake.
  CHECK(error_code(client.request("tools/list")) == -32602);
  CHECK(client.request("ping").contains("result"));
}

TEST_CASE("tools/list describes every tool with its inputs, in one answer of 8,000 bytes") {
  const TempFolder folder;
  McpClient client({folder.path()});
  const json answer = client.request("tools/list");
  CHECK(answer.dump().size() <= 8000);
  std::set<std::string> names;
  for (const json& tool : answer["result"]["tools"]) {
    CAPTURE(tool.dump());
    names.insert(tool["name"].get<std::string>());
    CHECK(tool["description"].get<std::string>().size() > 30);
    const json& schema = tool["inputSchema"];
    CHECK(schema["type"] == "object");
    CHECK(schema["additionalProperties"] == false);
    CHECK(schema["properties"].contains("cursor"));
    for (const json& required : schema.value("required", json::array()))
      CHECK(schema["properties"].contains(required.get<std::string>()));
    for (const json& property : schema["properties"])
      CHECK_FALSE(property["description"].get<std::string>().empty());
  }
  CHECK(names == std::set<std::string>{"advise", "cluster", "compare", "doctor", "layout", "list",
                                       "open", "query", "summary", "table", "timeline"});
}

TEST_CASE("unknown methods, tools and cursors are errors; notifications get no answer") {
  const TempFolder folder;
  McpClient client({folder.path()});
  CHECK(error_code(client.request("prompts/list")) == -32601);
  CHECK(error_code(client.request("tools/call", {{"name", "rm"}})) == -32602);
  CHECK(error_code(client.request("tools/call", json::object())) == -32602);
  CHECK(error_code(client.request("tools/call", {{"name", "list"}, {"arguments", {1}}})) == -32602);
  CHECK(error_code(client.request("tools/list", {{"cursor", "x"}})) == -32602);
  for (const char* method : {"notifications/initialized", "notifications/cancelled", "tools/list",
                             "notifications/nonsense"})
    client.send(json{{"jsonrpc", "2.0"}, {"method", method}});
  client.send(json{{"jsonrpc", "2.0"}, {"id", 99}, {"result", json::object()}});
  client.send(std::string());
  CHECK(client.request("ping")["result"] == json::object());
}

TEST_CASE("resources are pages of the manual, in parts of 8,000 bytes") {
  const TempFolder folder;
  McpClient client({folder.path()});
  const json list = client.request("resources/list")["result"]["resources"];
  CHECK(list.size() >= 10);
  for (const json& resource : list) {
    const std::string page = resource["uri"];
    CAPTURE(page);
    const std::string file = read_file(MSPROF_PAGES "/docs/" + resource["name"].get<std::string>());
    CHECK(resource["size"] == file.size());
    std::string text;
    for (int part = 1; text.size() < file.size(); ++part) {
      REQUIRE(part < 20);
      const std::string uri = part == 1 ? page : page + "?part=" + std::to_string(part);
      const json answer = client.request("resources/read", {{"uri", uri}});
      REQUIRE(answer.contains("result"));
      CHECK(answer.dump().size() <= 8000);
      const json& content = answer["result"]["contents"][0];
      CHECK(content["uri"] == uri);
      CHECK(content["mimeType"] == "text/markdown");
      std::string shown = content["text"];
      const std::string more = "\n(continued in " + page + "?part=" + std::to_string(part + 1);
      if (const auto at = shown.find(more); at != std::string::npos) shown.resize(at);
      text += shown;
    }
    CHECK(text == file);
  }
  for (const char* uri : {"msprof://docs/none.md", "file:///etc/passwd", "msprof://docs/../x",
                          "msprof://docs/query.md?part=0", "msprof://docs/query.md?part=99999999",
                          "msprof://docs/query.md?part=x"}) {
    CAPTURE(uri);
    CHECK(error_code(client.request("resources/read", {{"uri", uri}})) == -32002);
    CHECK(error_code(client.request("resources/read", with_meta({{"uri", uri}}))) == -32602);
  }
}

TEST_CASE("everything that was received is answered before the end of the input ends the server") {
  const TempFolder folder;
  McpClient client({folder.path()});
  for (int i = 0; i < 3; ++i) {
    client.send(json{{"jsonrpc", "2.0"},
                     {"id", "call " + std::to_string(i)},
                     {"method", "tools/call"},
                     {"params", {{"name", "list"}}}});
  }
  client.close_input();
  for (int i = 0; i < 3; ++i) CHECK(client.receive_json()["id"] == "call " + std::to_string(i));
  CHECK_FALSE(client.receive());
  CHECK(client.wait() == 0);
}

TEST_CASE("a signal ends the server, also during a call, with the exit code of an interruption") {
  const TempFolder folder;
  JobBuilder job = make_face(folder.path(), "JOBA");
  add_many_records(job, 100'000);
  for (const int signal : {SIGTERM, SIGINT}) {
    CAPTURE(signal);
    McpClient idle({folder.path()});
    ::kill(idle.pid(), signal);
    CHECK(idle.wait() == 130);
  }
  McpClient busy({folder.path()});
  busy.send(json{{"jsonrpc", "2.0"},
                 {"id", 5},
                 {"method", "tools/call"},
                 {"params", {{"name", "open"}, {"arguments", {{"path", "JOBA"}}}}}});
  ::kill(busy.pid(), SIGTERM);
  CHECK(busy.wait() == 130);
}

TEST_CASE("a cancelled call gets no answer, and a ping is answered during a call") {
  const TempFolder folder;
  make_face(folder.path(), "JOBA");
  McpClient client({folder.path()});
  client.ask("open", {{"path", "JOBA"}});
  // Runs until its time limit.
  const json slow = {
      {"path", "JOBA"},
      {"sql",
       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"}};
  const auto send_call = [&](const json& id, const json& arguments) {
    client.send(json{{"jsonrpc", "2.0"},
                     {"id", id},
                     {"method", "tools/call"},
                     {"params", {{"name", "query"}, {"arguments", arguments}}}});
  };
  const auto cancel = [&](const json& id) {
    client.send(json{{"jsonrpc", "2.0"},
                     {"method", "notifications/cancelled"},
                     {"params", {{"requestId", id}, {"reason", "test"}}}});
  };
  send_call("slow", slow);
  send_call("waiting", slow);
  client.send(json{{"jsonrpc", "2.0"}, {"id", "here"}, {"method", "ping"}});
  CHECK(client.receive_json()["id"] == "here");
  cancel("unknown");
  cancel("waiting");
  cancel("slow");
  send_call("last", {{"path", "JOBA"}, {"sql", "SELECT 7 AS n"}});
  const json last = client.receive_json();
  CHECK(last["id"] == "last");
  CHECK(last["result"]["structuredContent"]["captures"][0]["rows"] == json::parse("[[7]]"));
}

TEST_CASE("mcp needs a root that is a folder; --skill names every tool and verb") {
  const TempFolder folder;
  CHECK(run_msprof({"mcp"}).exit_code == 2);
  const RunResult missing = run_msprof({"mcp", "--root", (folder / "none").string()});
  CHECK(missing.exit_code == 2);
  CHECK(contains(missing.err, "is not a folder"));
  const RunResult skill = run_msprof({"mcp", "--skill"});
  CHECK(skill.exit_code == 0);
  CHECK(skill.out.starts_with("---\nname: msprof\n"));
  for (const msprof::McpTool& tool : msprof::mcp_tools())
    CHECK(contains(skill.out, "| `" + std::string(tool.name) + "` |"));
  for (const char* verb : {"collect", "advise", "mcp"})
    CHECK(contains(skill.out, "| `msprof " + std::string(verb) + "` |"));
  // The manual lists the same tools.
  const std::string page = read_file(MSPROF_PAGES "/docs/agents.md");
  for (const msprof::McpTool& tool : msprof::mcp_tools())
    CHECK(contains(page, "| `" + std::string(tool.name) + "` | `" + std::string(tool.verb)));
}
