// Opens a connection in a separate process, for tests that need its terminal or environment:
//   open_helper PORT SSH_FOLDER KEY   board@127.0.0.1, strict; prints the login method
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "ssh/ssh_connection.hpp"

int main(int argc, char** argv) {
  using namespace msprof;
  if (argc != 4) return 2;
  try {
    interrupt::install();
    SshLogin login;
    login.host = "127.0.0.1";
    login.port = static_cast<std::uint16_t>(std::stoi(argv[1]));
    login.user = "board";
    login.ssh_folder = argv[2];
    login.key = argv[3];
    fmt::print("{}\n", SshConnection::open(login)->login_method());
    return 0;
  } catch (const Error& error) {
    log::error("{}", error.what());
    return static_cast<int>(error.code());
  }
}
