// A connected board for tests of code that runs on one.
#pragma once

#include "board/session/link.hpp"
#include "support/board_server.hpp"
#include "support/eventually.hpp"

namespace msprof::test {

inline BoardConfig make_config(const BoardServer& board) {
  BoardConfig config;
  config.login.host = BoardServer::host();
  config.login.port = board.port();
  config.login.user = BoardServer::user();
  config.login.key = board.client_key();
  config.login.ssh_folder = board.client_home() / ".ssh";
  config.login.connect_timeout_seconds = kAmpleSeconds;
  return config;
}

}  // namespace msprof::test
