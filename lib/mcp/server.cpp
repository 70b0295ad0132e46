#include "mcp/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <thread>
#include <utility>

#include "base/interrupt.hpp"
#include "base/json_levels.hpp"
#include "base/stdout_output.hpp"
#include "base/text.hpp"
#include "mcp/pages.hpp"

namespace msprof::mcp {

using nlohmann::ordered_json;

namespace {

constexpr std::string_view kNewest = "2026-07-28";
// Versions that start with `initialize`, the newest first.
constexpr std::array<std::string_view, 2> kWithHandshake = {"2025-11-25", "2025-06-18"};

// Names in `_meta`.
constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kServerKey = "io.modelcontextprotocol/serverInfo";

// Error codes of JSON-RPC 2.0 and of MCP.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kUnknownMethod = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kInternalError = -32603;
constexpr int kResourceNotFound = -32002;  // until 2025-11-25; kInvalidParams since
constexpr int kUnsupportedVersion = -32022;

constexpr std::size_t kMostIdBytes = 200;
// Bytes of an answer around its document: the members of the newest version, and `next_cursor`.
constexpr std::size_t kEnvelopeBytes = 400;
constexpr std::size_t kPartBytes = kAnswerBytes - 1000;  // of a page of the manual
constexpr const char* kMarkdown = "text/markdown";
constexpr std::int64_t kFreshMs = 3'600'000;  // lists and pages never change while the server runs
// Messages kept while a call runs; further ones stay in the pipe.
constexpr std::size_t kMostWaiting = 64;
constexpr std::chrono::milliseconds kIdle{500};
constexpr std::chrono::milliseconds kMoment{2};

struct RpcError {
  int code;
  std::string message;
  ordered_json data{};
};

void send(const ordered_json& message) {
  print_document_text(json_text(message) + "\n", DocumentForm::json);
  std::fflush(stdout);
}

// Without an id, if the request is too damaged to have one.
void send_error(const ordered_json& id, const RpcError& error) {
  ordered_json message = {{"jsonrpc", "2.0"}};
  if (!id.is_null()) message["id"] = id;
  message["error"] = {{"code", error.code}, {"message", valid_utf8(error.message)}};
  if (!error.data.is_null()) message["error"]["data"] = error.data;
  send(message);
}

bool is_id(const ordered_json& id) {
  if (id.is_string()) return id.get_ref<const std::string&>().size() <= kMostIdBytes;
  return id.is_number_integer();
}

// Returns the member of an object; null if there is none.
const ordered_json& member(const ordered_json& object, const char* name) {
  static const ordered_json kNull;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found == object.end() ? kNull : *found;
}

std::string text_member(const ordered_json& object, const char* name) {
  const ordered_json& value = member(object, name);
  if (value.is_string()) return value.get<std::string>();
  throw RpcError{kInvalidParams, fmt::format("params.{}: expected a string", name)};
}

// Parses a line; throws RpcError.
ordered_json parse_message(const Line& line) {
  if (line.is_too_long)
    throw RpcError{kInvalidRequest,
                   fmt::format("the message has more than {} bytes", kMostLineBytes)};
  if (is_nested_deeper(line.text))
    throw RpcError{kParseError, fmt::format("nested deeper than {} levels", kMaxJsonLevels)};
  if (has_too_many_members(line.text))
    throw RpcError{kInvalidRequest,
                   fmt::format("the message has more than {} members", kMaxJsonMembers)};
  ordered_json message = ordered_json::parse(line.text, nullptr, false);
  if (message.is_discarded()) throw RpcError{kParseError, "the message is not JSON"};
  if (!message.is_object()) throw RpcError{kInvalidRequest, "expected one JSON object per line"};
  return message;
}

// Returns the message if it can be parsed.
std::optional<ordered_json> try_parse(const Line& line) {
  try {
    return parse_message(line);
  } catch (const RpcError&) {
    return std::nullopt;
  }
}

bool is_blank(const Line& line) {
  return !line.is_too_long && trim(line.text).empty();
}

bool is_method(const ordered_json& message, std::string_view method) {
  return member(message, "method") == method;
}

// Returns the longest start of `text` that needs at most `bytes` as a JSON text and ends with a
// line; at least one line or, if that is too long, the largest part of it.
std::string_view first_lines(std::string_view text, std::size_t bytes) {
  std::size_t used = 2;
  std::size_t end_of_line = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    used += c == '\n' || c == '"' || c == '\\' || c == '\t' ? 2 : 1;
    if (used > bytes) {
      if (end_of_line > 0) return text.substr(0, end_of_line);
      while (at > 0 && !is_valid_utf8(text.substr(0, at))) --at;
      return text.substr(0, std::max<std::size_t>(at, 1));
    }
    if (c == '\n') end_of_line = at + 1;
  }
  return text;
}

}  // namespace

struct Server::Request {
  ordered_json id;
  std::string method;
  ordered_json params = ordered_json::object();
  bool is_modern = false;  // names its version
};

namespace {

ordered_json supported_versions() {
  ordered_json versions = ordered_json::array({kNewest});
  for (const std::string_view older : kWithHandshake) versions.push_back(older);
  return versions;
}

// Returns true if the request names its version, false if it relies on `initialize`. Throws
// RpcError if the server does not speak the version, or does not know it.
bool names_version(const ordered_json& params, bool may_rely) {
  const ordered_json& meta = member(params, "_meta");
  const ordered_json& version = member(meta, kVersionKey);
  if (version.is_null()) {
    if (may_rely) return false;
    throw RpcError{kInvalidParams, fmt::format("send initialize first, or name the version of the "
                                               "protocol in params._meta ({})",
                                               kVersionKey)};
  }
  if (version != kNewest) {
    const bool is_text = version.is_string();
    const std::string asked = is_text ? version.get<std::string>() : std::string();
    throw RpcError{
        kUnsupportedVersion,
        "unsupported protocol version",
        {{"supported", supported_versions()}, {"requested", shorten(printable(asked), 80)}}};
  }
  if (!member(meta, kCapabilitiesKey).is_object())
    throw RpcError{kInvalidParams, fmt::format("params._meta: {} is missing", kCapabilitiesKey)};
  return true;
}

void allow_caching(ordered_json& result) {
  result["ttlMs"] = kFreshMs;
  result["cacheScope"] = "public";
}

ordered_json capabilities() {
  return {{"tools", ordered_json::object()}, {"resources", ordered_json::object()}};
}

// The lists fit into one answer, so that no cursor is ever given out.
void refuse_cursor(const ordered_json& params) {
  if (!member(params, "cursor").is_null())
    throw RpcError{kInvalidParams, "params.cursor: this list has one page"};
}

// Splits "msprof://docs/query.md?part=2"; without a part, it is 1.
std::pair<std::string, std::uint64_t> split_uri(const std::string& uri) {
  constexpr std::string_view kPart = "?part=";
  const std::size_t at = uri.find(kPart);
  std::uint64_t part = 1;
  if (at == std::string::npos) return {uri, part};
  if (!parse_u64(std::string_view(uri).substr(at + kPart.size()), part)) part = 0;
  return {uri.substr(0, at), part};
}

}  // namespace

Server::Server(ServerParts parts, int input_fd)
    : parts_(std::move(parts)), reader_(input_fd, kMostLineBytes) {}

Exit Server::run() {
  while (interrupt::received() == 0) {
    if (!lines_.empty()) {
      const Line line = std::move(lines_.front());
      lines_.pop_front();
      answer(line);
    } else if (reader_.has_ended()) {
      return Exit::ok;
    } else {
      reader_.read(kIdle, lines_);
    }
  }
  return Exit::interrupted;
}

void Server::answer(const Line& line) {
  if (is_blank(line)) return;
  Request request;
  try {
    const ordered_json message = parse_message(line);
    if (is_id(member(message, "id"))) request.id = message["id"];
    // Notifications get no answer. None of them changes anything here, and the server sends no
    // requests that a response could belong to.
    const bool has_method = message.contains("method");
    if (has_method && !message.contains("id")) return;
    if (!has_method && (message.contains("result") || message.contains("error"))) return;
    read_request(message, request);
    if (request.method == "tools/call") return call_tool(request);
    send_result(request, result_of(request));
  } catch (const RpcError& error) {
    send_error(request.id, error);
  } catch (const Error& error) {
    send_error(request.id, {kInternalError, error.what()});
  }
}

void Server::read_request(const ordered_json& message, Request& request) const {
  if (member(message, "jsonrpc") != "2.0")
    throw RpcError{kInvalidRequest, "jsonrpc: expected \"2.0\""};
  if (request.id.is_null()) {
    throw RpcError{
        kInvalidRequest,
        fmt::format("id: expected an integer or a text of at most {} bytes", kMostIdBytes)};
  }
  if (!member(message, "method").is_string())
    throw RpcError{kInvalidRequest, "method: expected a string"};
  request.method = message["method"];
  if (message.contains("params")) request.params = message["params"];
  if (!request.params.is_object()) throw RpcError{kInvalidParams, "params: expected an object"};
  const bool needs_none = request.method == "initialize" || request.method == "ping";
  request.is_modern = names_version(request.params, is_initialized_ || needs_none);
}

ordered_json Server::result_of(const Request& request) {
  if (request.method == "initialize") return initialize(request.params);
  if (request.method == "ping") return ordered_json::object();
  if (request.method == "server/discover") return describe();
  if (request.method == "tools/list") return list_tools(request);
  if (request.method == "resources/list") return list_resources(request);
  if (request.method == "resources/read") return read_resource(request);
  throw RpcError{kUnknownMethod,
                 fmt::format("unknown method: {}", shorten(printable(request.method), 80))};
}

void Server::send_result(const Request& request, ordered_json result) const {
  if (request.is_modern) {
    result["resultType"] = "complete";
    result["_meta"] = {{kServerKey, {{"name", parts_.name}, {"version", parts_.version}}}};
  }
  send({{"jsonrpc", "2.0"}, {"id", request.id}, {"result", std::move(result)}});
}

ordered_json Server::initialize(const ordered_json& params) {
  const std::string wanted = text_member(params, "protocolVersion");
  is_initialized_ = true;
  const bool is_known =
      std::find(kWithHandshake.begin(), kWithHandshake.end(), wanted) != kWithHandshake.end();
  return {{"protocolVersion", is_known ? wanted : std::string(kWithHandshake.front())},
          {"capabilities", capabilities()},
          {"serverInfo", {{"name", parts_.name}, {"version", parts_.version}}},
          {"instructions", parts_.instructions}};
}

ordered_json Server::describe() const {
  ordered_json result = {{"supportedVersions", supported_versions()},
                         {"capabilities", capabilities()},
                         {"instructions", parts_.instructions}};
  allow_caching(result);
  return result;
}

ordered_json Server::list_tools(const Request& request) const {
  refuse_cursor(request.params);
  ordered_json result = {{"tools", ordered_json::array()}};
  for (const Tool& tool : parts_.tools) {
    result["tools"].push_back(
        {{"name", tool.name},
         {"description", tool.help},
         {"inputSchema", tool.input_schema},
         {"annotations", {{"destructiveHint", false}, {"openWorldHint", false}}}});
  }
  if (request.is_modern) allow_caching(result);
  return result;
}

ordered_json Server::list_resources(const Request& request) const {
  refuse_cursor(request.params);
  ordered_json result = {{"resources", ordered_json::array()}};
  for (const Resource& one : parts_.resources) {
    result["resources"].push_back({{"uri", one.uri},
                                   {"name", one.uri.substr(one.uri.rfind('/') + 1)},
                                   {"description", one.help},
                                   {"mimeType", kMarkdown},
                                   {"size", one.text.size()}});
  }
  if (request.is_modern) allow_caching(result);
  return result;
}

ordered_json Server::read_resource(const Request& request) const {
  const std::string uri = text_member(request.params, "uri");
  if (uri.size() > kMostIdBytes) throw RpcError{kInvalidParams, "params.uri: too long"};
  const auto [page, part] = split_uri(uri);
  const auto found = std::find_if(parts_.resources.begin(), parts_.resources.end(),
                                  [&page = page](const Resource& one) { return one.uri == page; });
  std::string_view rest =
      found == parts_.resources.end() || part == 0 ? std::string_view() : found->text;
  std::string_view text = first_lines(rest, kPartBytes);
  for (std::uint64_t i = 1; i < part && !text.empty(); ++i) {
    rest.remove_prefix(text.size());
    text = first_lines(rest, kPartBytes);
  }
  rest.remove_prefix(text.size());
  if (text.empty()) {
    throw RpcError{request.is_modern ? kInvalidParams : kResourceNotFound,
                   "no such resource; resources/list lists them",
                   {{"uri", shorten(printable(uri), 200)}}};
  }
  std::string shown(text);
  if (!rest.empty()) shown += fmt::format("\n(continued in {}?part={})\n", page, part + 1);
  const ordered_json content = {{"uri", uri}, {"mimeType", kMarkdown}, {"text", shown}};
  ordered_json result = {{"contents", ordered_json::array({content})}};
  if (request.is_modern) allow_caching(result);
  return result;
}

void Server::call_tool(const Request& request) {
  const std::string name = text_member(request.params, "name");
  const bool is_known = std::any_of(parts_.tools.begin(), parts_.tools.end(),
                                    [&](const Tool& tool) { return tool.name == name; });
  if (!is_known) {
    throw RpcError{kInvalidParams, fmt::format("unknown tool: {}; tools/list lists them",
                                               shorten(printable(name), 80))};
  }
  ordered_json arguments = member(request.params, "arguments");
  if (arguments.is_null()) arguments = ordered_json::object();
  if (!arguments.is_object())
    throw RpcError{kInvalidParams, "params.arguments: expected an object"};
  is_cancelled_ = false;
  sort_lines(std::exchange(lines_, {}), request.id);
  const ToolResult result = parts_.call(name, arguments, [&] { return keep_working(request.id); });
  if (is_cancelled_ || interrupt::received() != 0) return;
  const std::size_t least = kEnvelopeBytes + json_text(request.id).size() +
                            answer_bytes(json_text(result.cursor_prefix + result.cursor_after));
  Page page = cut_page(result.document, result.page_from, result.most_bytes - least);
  std::string cursor = result.cursor_after;
  if (page.next) cursor = fmt::format("{}{}", result.cursor_prefix, *page.next);
  if (!cursor.empty()) page.document["next_cursor"] = cursor;
  const ordered_json text = {{"type", "text"}, {"text", json_text(page.document)}};
  send_result(request, {{"content", ordered_json::array({text})},
                        {"structuredContent", page.document},
                        {"isError", result.is_error}});
}

bool Server::keep_working(const ordered_json& id) {
  std::deque<Line> arrived;
  if (reader_.has_ended() || lines_.size() >= kMostWaiting) {
    std::this_thread::sleep_for(kMoment);
  } else {
    reader_.read(kMoment, arrived);
  }
  sort_lines(std::move(arrived), id);
  return !is_cancelled_ && interrupt::received() == 0;
}

// Handles what can be answered during a call, and keeps the rest for later.
void Server::sort_lines(std::deque<Line> arrived, const ordered_json& id) {
  for (Line& line : arrived)
    if (!handle_during_call(line, id)) lines_.push_back(std::move(line));
}

// Answers a ping, and drops cancelled requests. Returns false for messages that must wait for the
// end of the call.
bool Server::handle_during_call(Line& line, const ordered_json& id) {
  if (!line.id.empty()) return false;  // a request that waits since an earlier call
  const auto message = try_parse(line);
  if (!message) return false;
  if (is_method(*message, "ping")) {
    answer(line);
    return true;
  }
  if (!is_method(*message, "notifications/cancelled")) {
    if (is_id(member(*message, "id"))) line.id = json_text((*message)["id"]);
    return false;
  }
  const ordered_json& cancelled = member(member(*message, "params"), "requestId");
  if (!is_id(cancelled)) return true;
  if (cancelled == id) is_cancelled_ = true;
  std::erase_if(lines_, [wanted = json_text(cancelled)](const Line& waiting) {
    return waiting.id == wanted;
  });
  return true;
}

}  // namespace msprof::mcp
