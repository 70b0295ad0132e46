// A connected board for tests of the parts that run on one.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "board/link.hpp"
#include "support/board_server.hpp"

namespace msprof::test {

inline BoardConfig config_of(const BoardServer& board) {
  BoardConfig config;
  config.login.host = BoardServer::host();
  config.login.port = board.port();
  config.login.user = BoardServer::user();
  config.login.key = board.client_key();
  config.login.ssh_folder = board.client_home() / ".ssh";
  config.login.connect_timeout_seconds = 20;
  return config;
}

inline bool soon(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace msprof::test
