#include "support/ssh_client.hpp"

#include <utility>

#include "support/files.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

Words joined(Words left, const Words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

using Variables = std::vector<std::pair<std::string, std::string>>;

Variables joined(Variables left, const Variables& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Variables client_variables(const fs::path& home) {
  return {{"HOME", home}, {"SSH_AUTH_SOCK", ""}};
}

}  // namespace

Words SshClient::options() const {
  return {
      "-F", "/dev/null",
      "-o", "UserKnownHostsFile=" + known_hosts().string(),
      "-o", "GlobalKnownHostsFile=/dev/null",
      "-o", std::string("StrictHostKeyChecking=") + (accept_new_host_keys ? "accept-new" : "yes"),
      "-o", "IdentitiesOnly=yes"};
}

// ssh runs an askpass program instead of asking on a terminal.
RunResult SshClient::run_with_answer(std::uint16_t port, const std::string& answer,
                                     const std::string& command) const {
  const fs::path program = home / "answer";
  write_file(program, "#!/bin/sh\nprintf '%s\\n' \"$SSH_TEST_ANSWER\"\n");
  fs::permissions(program, fs::perms::owner_all);
  fs::create_directories(known_hosts().parent_path());
  return run_program("/usr/bin/env",
                     joined(joined({"ssh", "-p", std::to_string(port)}, options()),
                            {"-o", "NumberOfPasswordPrompts=1", "-o", "PubkeyAuthentication=no",
                             "board@127.0.0.1", command}),
                     {.variables = joined(client_variables(home), {{"SSH_ASKPASS", program},
                                                                   {"SSH_ASKPASS_REQUIRE", "force"},
                                                                   {"SSH_TEST_ANSWER", answer}})});
}

Words SshClient::words_with_key(std::uint16_t port, const fs::path& key,
                                const std::string& command) const {
  return joined(joined({"ssh", "-p", std::to_string(port), "-i", key}, options()),
                {"-o", "BatchMode=yes", "board@127.0.0.1", command});
}

RunResult SshClient::run_with_key(std::uint16_t port, const fs::path& key,
                                  const std::string& command) const {
  return run_program("/usr/bin/env", words_with_key(port, key, command),
                     {.variables = client_variables(home)});
}

RunResult ssh(const BoardServer& board, const std::string& command) {
  return SshClient{board.client_home()}.run_with_key(board.port(), board.client_key(), command);
}

RunResult ssh_with_password(const BoardServer& board, const std::string& password,
                            const std::string& command) {
  return SshClient{board.client_home()}.run_with_answer(board.port(), password, command);
}

RunResult ssh_with_answer(const KbdintServer& server, const std::string& answer,
                          const std::string& command) {
  return SshClient{server.client_home()}.run_with_answer(server.port(), answer, command);
}

Words ssh_words(const BoardServer& board, const std::string& command) {
  return SshClient{board.client_home()}.words_with_key(board.port(), board.client_key(), command);
}

}  // namespace msprof::test
