// KbdintServer: an SSH server on the loopback that accepts only keyboard-interactive logins, like
// boards with one-time passwords. Runs commands through /bin/sh, several at once; no file service.
// Uses its own threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace msprof::test {

struct KbdintPrompt {
  std::string text;
  std::string answer;  // the accepted answer
  bool echo = false;   // the client may show typed characters
};

struct KbdintOptions {
  std::vector<KbdintPrompt> prompts = {{.text = "Password: ", .answer = "blue;kite#7"}};
  std::string name{};         // title of the dialogue
  std::string instruction{};  // shown before the prompts
  // OpenSSH with PAM sends one more round without prompts before it accepts.
  bool empty_round_at_end = false;
  // A wrong answer closes the connection without a message.
  bool hangs_up = false;
};

class KbdintServer {
 public:
  explicit KbdintServer(const KbdintOptions& options = {});
  ~KbdintServer();

  std::uint16_t port() const;
  static std::string host() { return "127.0.0.1"; }
  static std::string user() { return "board"; }
  // A HOME whose .ssh/known_hosts has the server's key.
  std::filesystem::path client_home() const;
  // The account's home folder.
  std::filesystem::path home() const;
  std::filesystem::path known_hosts() const { return client_home() / ".ssh" / "known_hosts"; }
  // Variables for RunOptions: HOME is client_home(), and there is no ssh agent.
  std::vector<std::pair<std::string, std::string>> client_variables() const;

  int dialogues() const;  // number of clients that were sent the prompts so far
  int refusals() const;   // number of wrong answers

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace msprof::test
