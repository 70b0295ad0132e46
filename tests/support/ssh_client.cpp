#include "support/ssh_client.hpp"

#include "support/files.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

Words joined(Words left, const Words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

// ssh asks a program for what it would ask a terminal for.
RunResult run_answering(const std::string& answer, const fs::path& client_home,
                        std::vector<std::pair<std::string, std::string>> variables,
                        const Words& words) {
  const fs::path program = client_home / "answer";
  write_file(program, "#!/bin/sh\nprintf '%s\\n' \"$SSH_TEST_ANSWER\"\n");
  fs::permissions(program, fs::perms::owner_all);
  variables.emplace_back("SSH_ASKPASS", program);
  variables.emplace_back("SSH_ASKPASS_REQUIRE", "force");
  variables.emplace_back("SSH_TEST_ANSWER", answer);
  return run_program("/usr/bin/env", words, {.variables = variables});
}

Words answering_words(const fs::path& known_hosts, std::uint16_t port, const std::string& method,
                      const std::string& command) {
  return joined(joined({"ssh", "-p", std::to_string(port)}, client_options(known_hosts, "none")),
                {"-o", "PreferredAuthentications=" + method, "-o", "NumberOfPasswordPrompts=1",
                 "board@127.0.0.1", command});
}

}  // namespace

Words client_options(const fs::path& known_hosts, const fs::path& key) {
  return {"-F", "/dev/null",
          "-i", key,
          "-o", "IdentitiesOnly=yes",
          "-o", "UserKnownHostsFile=" + known_hosts.string(),
          "-o", "GlobalKnownHostsFile=/dev/null",
          "-o", "StrictHostKeyChecking=yes"};
}

Words ssh_words(const BoardServer& board, const std::string& command) {
  return joined(joined({"ssh", "-p", std::to_string(board.port())},
                       client_options(board.known_hosts(), board.client_key())),
                {"-o", "BatchMode=yes", "board@127.0.0.1", command});
}

RunResult ssh(const BoardServer& board, const std::string& command) {
  return run_program("/usr/bin/env", ssh_words(board, command),
                     {.variables = board.client_variables()});
}

RunResult ssh_with_password(const BoardServer& board, const std::string& password,
                            const std::string& command) {
  return run_answering(password, board.client_home(), board.client_variables(),
                       answering_words(board.known_hosts(), board.port(), "password", command));
}

RunResult ssh_with_answer(const KbdintServer& server, const std::string& answer,
                          const std::string& command) {
  return run_answering(
      answer, server.client_home(), server.client_variables(),
      answering_words(server.known_hosts(), server.port(), "keyboard-interactive", command));
}

}  // namespace msprof::test
