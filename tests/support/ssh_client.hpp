// The public ssh client, which the boards of the tests are held against: its keys, known_hosts and
// HOME are those of a test server, nothing of the user's own is read.
#pragma once

#include <string>
#include <vector>

#include "support/board_server.hpp"
#include "support/kbdint_server.hpp"
#include "support/run_program.hpp"

namespace msprof::test {

// Logs in with client_key().
RunResult ssh(const BoardServer& board, const std::string& command);
// Only with a password, typed once.
RunResult ssh_with_password(const BoardServer& board, const std::string& password,
                            const std::string& command);
// Answers each prompt so.
RunResult ssh_with_answer(const KbdintServer& server, const std::string& answer,
                          const std::string& command);

// The words of ssh(), for a RunningProgram of "/usr/bin/env" with board.client_variables().
std::vector<std::string> ssh_words(const BoardServer& board, const std::string& command);
// Options for `ssh -p` (or `sftp -P`) that name files of the test instead of the user's.
std::vector<std::string> client_options(const std::filesystem::path& known_hosts,
                                        const std::filesystem::path& key);

}  // namespace msprof::test
