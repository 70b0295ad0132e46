#include "ssh/session_opener.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "base/log.hpp"
#include "ssh/host_key.hpp"
#include "ssh/tcp_connect.hpp"

namespace msprof {

namespace {

std::filesystem::path home_folder() {
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return home;
  const passwd* entry = ::getpwuid(::getuid());
  return entry != nullptr ? entry->pw_dir : "/";
}

SshLogin with_folder(SshLogin login) {
  if (login.ssh_folder.empty()) login.ssh_folder = home_folder() / ".ssh";
  return login;
}

}  // namespace

SessionOpener::SessionOpener(const SshLogin& given)
    : login_(with_folder(given)), with_system_hosts_(given.ssh_folder.empty()), keys_(login_) {
  if (!given.password.first) return;
  login_.password.first = [this, source = given.password.first] {
    if (!asked_password_) password_ = source();
    asked_password_ = true;
    return password_;
  };
  if (!given.password.again) return;
  login_.password.again = [this, source = given.password.again] {
    password_ = source();
    return password_;
  };
}

std::unique_ptr<SshSession> SessionOpener::open_once() {
  const HostKeyCheck host_key(login_, with_system_hosts_);
  const auto passed = [this](LoginStep step) {
    if (login_.on_step) login_.on_step(step);
  };
  FileDescriptor socket = tcp_connect(login_);
  passed(LoginStep::connected);
  auto session =
      std::make_unique<SshSession>(login_, std::move(socket), host_key.preferred_types());
  session->handshake();
  passed(LoginStep::agreed);
  taken_key_ = host_key.check(*session, taken_key_);
  passed(LoginStep::host_key_taken);
  method_ = log_in(*session, login_, keys_, use_agent_);
  passed(LoginStep::logged_in);
  return session;
}

std::unique_ptr<SshSession> SessionOpener::open() {
  try {
    return open_once();
  } catch (const TooManyKeys& refused) {
    log::verbose("{}; once more without the agent", refused.what());
    use_agent_ = UseAgent::no;
    return open_once();
  }
}

}  // namespace msprof
