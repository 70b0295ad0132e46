#include "mcp/mcp_client.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include "support/run_program.hpp"

namespace msprof::test {

using nlohmann::json;

McpClient::McpClient(const std::vector<std::filesystem::path>& roots,
                     const std::string& handshake) {
  ::signal(SIGPIPE, SIG_IGN);
  std::vector<std::string> words = {msprof_path(), "mcp"};
  for (const auto& root : roots) words.insert(words.end(), {"--root", root.string()});
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int to[2];
  int from[2];
  REQUIRE(::pipe2(to, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(from, O_CLOEXEC) == 0);
  pid_ = ::fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    ::dup2(to[0], STDIN_FILENO);
    ::dup2(from[1], STDOUT_FILENO);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  ::close(to[0]);
  ::close(from[1]);
  in_ = to[1];
  out_ = from[0];
  if (handshake.empty()) return;
  const json answer = request("initialize", {{"protocolVersion", handshake},
                                             {"capabilities", json::object()},
                                             {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
  REQUIRE(answer["result"]["protocolVersion"].is_string());
  send(json{{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
}

McpClient::~McpClient() {
  close_input();
  ::close(out_);
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void McpClient::send(const std::string& line) {
  const std::string bytes = line + "\n";
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t count = ::write(in_, bytes.data() + at, bytes.size() - at);
    if (count <= 0) return;
    at += static_cast<std::size_t>(count);
  }
}

std::optional<std::string> McpClient::receive() {
  for (;;) {
    const std::size_t newline = buffer_.find('\n');
    if (newline != std::string::npos) {
      std::string line = buffer_.substr(0, newline);
      buffer_.erase(0, newline + 1);
      return line;
    }
    pollfd output = {out_, POLLIN, 0};
    if (::poll(&output, 1, 60'000) <= 0) return std::nullopt;
    std::array<char, 65536> bytes;
    const ssize_t count = ::read(out_, bytes.data(), bytes.size());
    if (count <= 0) return std::nullopt;
    buffer_.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

json McpClient::receive_json() {
  const auto line = receive();
  REQUIRE(line);
  INFO(*line);
  json answer = json::parse(*line, nullptr, false);
  REQUIRE(answer.is_object());
  CHECK(answer["jsonrpc"] == "2.0");
  return answer;
}

json McpClient::request(const std::string& method, const json& params) {
  const int id = ++last_id_;
  send(json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
  json answer = receive_json();
  INFO(answer.dump());
  CHECK(answer["id"] == id);
  return answer;
}

json McpClient::call(const std::string& tool, const json& arguments) {
  ++calls_;
  const json answer = request("tools/call", {{"name", tool}, {"arguments", arguments}});
  INFO(tool << " " << arguments.dump() << "\n" << answer.dump());
  REQUIRE(answer.contains("result"));
  constexpr std::size_t kLeast = 2500;  // a smaller limit is refused
  CHECK(answer.dump().size() <= std::max(arguments.value("max_bytes", std::size_t{8000}), kLeast));
  const json& result = answer["result"];
  REQUIRE(result["content"].size() == 1);
  CHECK(json::parse(result["content"][0]["text"].get<std::string>()) ==
        result["structuredContent"]);
  return result;
}

json McpClient::ask(const std::string& tool, const json& arguments) {
  const json result = call(tool, arguments);
  INFO(tool << " " << result.dump());
  REQUIRE(result["isError"] == false);
  return result["structuredContent"];
}

std::vector<json> McpClient::ask_all(const std::string& tool, json arguments) {
  std::vector<json> pages = {ask(tool, arguments)};
  while (pages.back().contains("next_cursor")) {
    REQUIRE(pages.size() < 1000);
    arguments["cursor"] = pages.back()["next_cursor"];
    pages.push_back(ask(tool, arguments));
  }
  return pages;
}

void McpClient::close_input() {
  if (in_ >= 0) ::close(in_);
  in_ = -1;
}

int McpClient::wait() {
  int status = 0;
  REQUIRE(::waitpid(pid_, &status, 0) == pid_);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace msprof::test
