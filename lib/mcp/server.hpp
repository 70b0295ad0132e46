// A server of the Model Context Protocol on standard input and output: JSON-RPC 2.0, one message
// per line. Speaks the protocol of 2026-07-28, whose requests each name their version, and those of
// 2025-11-25 and 2025-06-18, which start with `initialize`.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "mcp/lines.hpp"

namespace msprof::mcp {

// Bytes of an answer: a line on stdout.
inline constexpr std::size_t kAnswerBytes = 8000;
inline constexpr std::size_t kMostLineBytes = 1 << 20;  // of a message from the client

struct Tool {
  std::string name;
  std::string help;
  nlohmann::ordered_json input_schema;
};

// A page of the manual, in Markdown.
struct Resource {
  std::string uri;
  std::string help;
  std::string_view text;
};

// The result of a tool. An answer contains a page of `document`; its member `next_cursor` is
// `cursor_prefix` and the position of the next page, or `cursor_after` on the last page (empty:
// there is no more).
struct ToolResult {
  nlohmann::ordered_json document;  // an object
  bool is_error = false;
  std::size_t page_from = 0;
  std::size_t most_bytes = kAnswerBytes;
  std::string cursor_prefix;
  std::string cursor_after;
};

// Waits a moment, in which the server reads messages. Returns false if the call is to stop: it was
// cancelled, or the program is interrupted. Its result is then ignored.
using KeepWorking = std::function<bool()>;
using CallTool = std::function<ToolResult(
    const std::string& tool, const nlohmann::ordered_json& arguments, const KeepWorking&)>;

struct ServerParts {
  std::string name;
  std::string version;
  std::string instructions;  // for the model
  std::vector<Tool> tools;
  std::vector<Resource> resources;
  CallTool call;
};

class Server {
 public:
  Server(ServerParts parts, int input_fd);

  // Answers until the input ends (Exit::ok) or a signal arrives (Exit::interrupted). Throws
  // std::system_error if stdout accepts no more data.
  Exit run();

 private:
  struct Request;

  void answer(const Line& line);
  void read_request(const nlohmann::ordered_json& message, Request& request) const;
  nlohmann::ordered_json result_of(const Request& request);
  nlohmann::ordered_json initialize(const nlohmann::ordered_json& params);
  nlohmann::ordered_json list_tools(const Request& request) const;
  nlohmann::ordered_json list_resources(const Request& request) const;
  nlohmann::ordered_json read_resource(const Request& request) const;
  nlohmann::ordered_json describe() const;
  void call_tool(const Request& request);
  bool keep_working(const nlohmann::ordered_json& id);
  void sort_lines(std::deque<Line> arrived, const nlohmann::ordered_json& id);
  bool handle_during_call(Line& line, const nlohmann::ordered_json& id);
  void send_result(const Request& request, nlohmann::ordered_json result) const;

  ServerParts parts_;
  LineReader reader_;
  std::deque<Line> lines_;       // not answered yet
  bool is_initialized_ = false;  // the client has sent `initialize`
  bool is_cancelled_ = false;    // the call that runs
};

}  // namespace msprof::mcp
