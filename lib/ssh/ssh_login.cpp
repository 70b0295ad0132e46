#include "ssh/ssh_login.hpp"

#include <fmt/format.h>

namespace msprof {

std::string SshLogin::name() const {
  if (port == 22) return fmt::format("{}@{}", user, host);
  if (host.find(':') != std::string::npos) return fmt::format("{}@[{}]:{}", user, host, port);
  return fmt::format("{}@{}:{}", user, host, port);
}

}  // namespace msprof
