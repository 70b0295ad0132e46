// Where a password comes from: the three functions of board_config.hpp that deal with it.
#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "board/config.hpp"
#include "board/password_prompt.hpp"

namespace msprof {

namespace {

constexpr std::string_view kVariable = "MSPROF_SSH_PASSWORD=";
constexpr std::size_t kMostPasswordBytes = 64 << 10;

// One byte, so that what follows the line stays for the application. False at the end.
bool read_byte(int fd, char& byte) {
  for (;;) {
    const ssize_t count = ::read(fd, &byte, 1);
    if (count >= 0) return count == 1;
    if (errno == EAGAIN) {
      struct pollfd wanted = {fd, POLLIN, 0};
      ::poll(&wanted, 1, -1);
    } else if (errno != EINTR) {
      throw Error(Exit::usage, fmt::format("--password-stdin: standard input cannot be read: {}",
                                           errno_text(errno)));
    }
    interrupt::check();
  }
}

// A question on the terminal, asked once: the copies of a login, and a board that is connected to
// again, get the same answer.
SecretSource asked_once(std::optional<Secret> known, const std::string& question,
                        const std::string& complaint) {
  const bool is_typed = !known;
  auto answer = std::make_shared<std::optional<Secret>>(std::move(known));
  SecretSource source;
  source.first = [answer, question] {
    if (!*answer) *answer = ask_password(question);
    return *answer;
  };
  if (!is_typed) return source;
  source.again = [answer, text = complaint + question] {
    auto next = ask_password(text);
    if (next) *answer = next;
    return next;
  };
  return source;
}

}  // namespace

std::optional<Secret> take_password_variable() {
  std::optional<Secret> taken;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!text.starts_with(kVariable)) continue;
    const std::string_view value = text.substr(kVariable.size());
    if (!taken && !value.empty()) taken = Secret(std::string(value));
    // The bytes lie where /proc/PID/environ shows them: unsetting alone would leave them there.
    ::explicit_bzero(*entry + kVariable.size(), value.size());
  }
  ::unsetenv("MSPROF_SSH_PASSWORD");
  return taken;
}

SecretSource password_source(std::optional<Secret> given, const BoardConfig& config) {
  std::optional<Secret> variable = take_password_variable();
  std::optional<Secret> known = given ? std::move(given) : std::move(variable);
  if (!known && !config.password.empty()) known = config.password;
  return asked_once(std::move(known),
                    fmt::format("password for {}: ", printable(config.login.name())),
                    "the board refused it; ");
}

SecretSource passphrase_source(const std::filesystem::path& key) {
  return asked_once(std::nullopt,
                    fmt::format("passphrase of the key {}: ", printable(key.string())),
                    "that does not open it; ");
}

Secret read_password_line(int fd) {
  if (::isatty(fd) != 0) {
    throw Error(Exit::usage,
                "--password-stdin: standard input is a terminal, which would show the password; "
                "without the option msprof asks for it");
  }
  std::string line;
  line.reserve(kMostPasswordBytes + 1);  // a string that grows leaves copies behind
  char byte = 0;
  while (read_byte(fd, byte) && byte != '\n' && line.size() <= kMostPasswordBytes) line += byte;
  if (line.ends_with('\r')) line.pop_back();
  const bool has_nul = line.find('\0') != std::string::npos;
  const std::size_t size = line.size();
  Secret password(std::move(line));
  if (size == 0) {
    throw Error(Exit::usage,
                "--password-stdin: the first line of standard input is empty; it should be the "
                "password");
  }
  if (has_nul || size > kMostPasswordBytes) {
    throw Error(Exit::usage,
                fmt::format("--password-stdin: the first line of standard input is no password: it "
                            "{}",
                            has_nul ? "holds NUL bytes" : "is longer than 64 KB"));
  }
  return password;
}

}  // namespace msprof
