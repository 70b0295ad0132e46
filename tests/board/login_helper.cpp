// Prints a board's configuration and passwords, for tests that need a separate process with its own
// terminal, environment or stdin:
//   read FILE   every field of the configuration, one per line
//   ask NAME    the password for an account, requested twice: "<first>|<second>"
//   retry NAME  the same, refused once: "<first>|<again>|<first of another login>"
//   unlock KEY  the same for the passphrase of a key
//   take        the password variable, and "exposed" if the process still shows it
//   line        reads --password-stdin, then becomes `cat`
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "board/session/config.hpp"

namespace {

using namespace msprof;

std::string secret_text(const std::optional<Secret>& secret) {
  return secret ? fmt::format("'{}'", secret->reveal()) : "none";
}

void read(const std::string& file) {
  const BoardConfig config = read_board_config(file);
  fmt::print("name {}\nkey {}\ndir {}\npassword {}\n", config.login.name(),
             config.login.key.string(), config.board_dir, config.password.reveal());
}

SecretSource source_for(const std::string& user) {
  BoardConfig config;
  config.login.user = user;
  config.login.host = "10.0.0.1";
  return password_source(std::nullopt, config);
}

void ask(const SecretSource& source) {
  const auto again = source;  // copy used by a login
  const std::string first = secret_text(source.first());
  fmt::print("{}|{}\n", first, secret_text(again.first()));
}

void retry(const SecretSource& source) {
  const auto copy = source;
  const std::string first = secret_text(source.first());
  const std::string second = secret_text(source.again());
  fmt::print("{}|{}|{}\n", first, second, secret_text(copy.first()));
}

void take() {
  const std::optional<Secret> taken = take_password_variable();
  std::ifstream file("/proc/self/environ", std::ios::binary);
  std::ostringstream shown;
  shown << file.rdbuf();
  const bool exposed = taken && shown.str().find(taken->reveal()) != std::string::npos;
  const char* left = std::getenv("MSPROF_SSH_PASSWORD");
  fmt::print("{}{}{}\n", secret_text(taken), exposed ? " exposed" : "",
             left != nullptr ? " still there" : "");
}

void line() {
  fmt::print("{}\n", secret_text(read_password_line(STDIN_FILENO)));
  std::fflush(stdout);
  ::execl("/bin/cat", "cat", nullptr);
  ::_exit(125);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  try {
    interrupt::install();
    if (mode == "read" && argc == 3) read(argv[2]);
    if (mode == "ask" && argc == 3) ask(source_for(argv[2]));
    if (mode == "retry" && argc == 3) retry(source_for(argv[2]));
    if (mode == "unlock" && argc == 3) retry(passphrase_source(argv[2]));
    if (mode == "take") take();
    if (mode == "line") line();
    return 0;
  } catch (const Error& error) {
    log::error("{}", error.what());
    return static_cast<int>(error.code());
  }
}
