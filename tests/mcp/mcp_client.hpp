// McpClient: a client of `msprof mcp` that talks to the real program over pipes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace msprof::test {

class McpClient {
 public:
  // Starts the server; `handshake`: the version for `initialize`, empty: sends nothing.
  explicit McpClient(const std::vector<std::filesystem::path>& roots,
                     const std::string& handshake = "2025-11-25");
  ~McpClient();
  McpClient(const McpClient&) = delete;
  McpClient& operator=(const McpClient&) = delete;

  // Sends bytes and a newline.
  void send(const std::string& line);
  void send(const nlohmann::json& message) { send(message.dump()); }
  // Returns the next line; empty if the server has ended or does not answer for 60 s.
  std::optional<std::string> receive();
  nlohmann::json receive_json();

  // Sends a request with a new id and returns the response, which must have this id.
  nlohmann::json request(const std::string& method,
                         const nlohmann::json& params = nlohmann::json::object());
  // Calls a tool and returns the result. Checks that the text is the structured content, and that
  // the answer has at most max_bytes bytes.
  nlohmann::json call(const std::string& tool, const nlohmann::json& arguments);
  // The structured content of a call that succeeded.
  nlohmann::json ask(const std::string& tool, const nlohmann::json& arguments);
  // All pages of an answer; counts them in `pages`.
  std::vector<nlohmann::json> ask_all(const std::string& tool, nlohmann::json arguments);

  int calls() const { return calls_; }
  pid_t pid() const { return pid_; }
  void close_input();
  // Waits for the end of the server; -1: ended by a signal.
  int wait();

 private:
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  std::string buffer_;
  int last_id_ = 0;
  int calls_ = 0;
};

}  // namespace msprof::test
