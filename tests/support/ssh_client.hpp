// The public ssh client, as a reference for the boards of the tests. It reads none of the user's
// files: keys, known_hosts and HOME belong to the test.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "support/board_server.hpp"
#include "support/kbdint_server.hpp"
#include "support/run_program.hpp"

namespace msprof::test {

struct SshClient {
  std::filesystem::path home;
  bool accept_new_host_keys = false;

  std::filesystem::path known_hosts() const { return home / ".ssh" / "known_hosts"; }
  // Runs a command as board@127.0.0.1 and answers each question for a secret with `answer`, once.
  RunResult run_with_answer(std::uint16_t port, const std::string& answer,
                            const std::string& command) const;
  // Logs in with only the private key `key`.
  RunResult run_with_key(std::uint16_t port, const std::filesystem::path& key,
                         const std::string& command) const;
  // Options for ssh and sftp, and the arguments of run_with_key() for a program that the test
  // starts.
  std::vector<std::string> options() const;
  std::vector<std::string> words_with_key(std::uint16_t port, const std::filesystem::path& key,
                                          const std::string& command) const;
};

// Logs in with client_key().
RunResult ssh(const BoardServer& board, const std::string& command);
RunResult ssh_with_password(const BoardServer& board, const std::string& password,
                            const std::string& command);
RunResult ssh_with_answer(const KbdintServer& server, const std::string& answer,
                          const std::string& command);

// The arguments of ssh(), for a RunningProgram of "/usr/bin/env" with board.client_variables().
std::vector<std::string> ssh_words(const BoardServer& board, const std::string& command);

}  // namespace msprof::test
