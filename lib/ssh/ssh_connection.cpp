#include "ssh/ssh_connection.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/host_name.hpp"
#include "base/log.hpp"
#include "ssh/authentication.hpp"
#include "ssh/host_key.hpp"
#include "ssh/jump_host.hpp"
#include "ssh/run_hosts.hpp"
#include "ssh/sftp_client.hpp"
#include "ssh/ssh_loop.hpp"
#include "ssh/ssh_session.hpp"
#include "ssh/tcp_connect.hpp"

namespace msprof {

std::string SshLogin::name() const {
  const std::string& shown = shown_host();
  if (port == 22) return fmt::format("{}@{}", user, shown);
  if (shown.find(':') != std::string::npos) return fmt::format("{}@[{}]:{}", user, shown, port);
  return fmt::format("{}@{}:{}", user, shown, port);
}

std::string SshLogin::way() const {
  std::string text;
  for (const SshLogin& jump : jumps) text += (text.empty() ? "" : ", ") + jump.name();
  return text;
}

namespace {

// Maximum number of consecutive logins without an answer; each may be a refusal.
constexpr int kMaxUnanswered = 2;

SshLogin completed(SshLogin login) {
  if (login.ssh_folder.empty()) login.ssh_folder = own_home_folder() / ".ssh";
  if (!login.run_hosts) login.run_hosts = std::make_shared<RunHosts>();
  for (SshLogin& jump : login.jumps) jump.run_hosts = login.run_hosts;
  return login;
}

// Opens sessions of a login: connects, checks the host key and logs in.
class SessionOpener {
 public:
  // Reads the keys of the login; throws Error(usage) like LoginKeys. `before`: the jump host that
  // leads to this host; null: the login's jump hosts are used, from this machine. `way`: the names
  // of all hosts on the route.
  explicit SessionOpener(const SshLogin& given, JumpHost* before = nullptr, std::string way = {});
  // Destroys the last jump host first: it uses the one before it.
  ~SessionOpener() {
    while (!jumps_.empty()) jumps_.pop_back();
  }
  SessionOpener(const SessionOpener&) = delete;
  SessionOpener& operator=(const SessionOpener&) = delete;

  // Throws like SshConnection::open(). Later sessions reuse the password and passphrases of earlier
  // ones.
  std::unique_ptr<SshSession> open();

  const std::string& method() const { return method_; }  // of the last session
  // Describes the problem of the first failed jump host; empty if all work.
  std::string trouble() const;
  std::string name() const { return login_.name(); }

 private:
  std::string run_login() const { return fmt::format("{} {}", way_, login_.name()); }
  std::string agent_login() const { return run_login() + " agent"; }
  std::unique_ptr<SshSession> open_once();
  std::unique_ptr<SshSession> try_to_open();
  void open_jumps();
  FileDescriptor connect();

  SshLogin login_;
  bool uses_system_hosts_;
  LoginKeys keys_;
  std::optional<Secret> password_;
  bool has_asked_password_ = false;
  std::string method_;
  JumpHost* before_;
  std::string way_;
  std::vector<std::unique_ptr<JumpHost>> jumps_;
};

}  // namespace

SessionOpener::SessionOpener(const SshLogin& given, JumpHost* before, std::string way)
    : login_(completed(given)),
      uses_system_hosts_(given.ssh_folder.empty()),
      keys_(login_),
      before_(before),
      way_(before != nullptr ? std::move(way) : login_.way()) {
  if (!given.password.first) return;
  login_.password.first = [this, source = given.password.first] {
    if (!has_asked_password_) password_ = source();
    has_asked_password_ = true;
    return password_;
  };
  if (!given.password.again) return;
  login_.password.again = [this, source = given.password.again] {
    password_ = source();
    return password_;
  };
}

std::unique_ptr<SshSession> SessionOpener::open_once() {
  RunHosts& run = *login_.run_hosts;
  const std::string host = fmt::format("{} {}", way_, known_host_name(login_));
  const HostKeyCheck host_key(login_, uses_system_hosts_, run.find_accepted(host));
  const auto passed = [this](LoginStep step) {
    if (login_.on_step) login_.on_step(step);
  };
  FileDescriptor socket = connect();
  passed(LoginStep::connected);
  auto session =
      std::make_unique<SshSession>(login_, std::move(socket), host_key.preferred_types());
  session->handshake();
  passed(LoginStep::agreed);
  run.accept(host, host_key.check(*session));
  passed(LoginStep::host_key_taken);
  const bool agent_is_refused = !run.refusal(agent_login()).empty();
  method_ = log_in(*session, login_, keys_, agent_is_refused ? UseAgent::no : UseAgent::yes);
  passed(LoginStep::logged_in);
  return session;
}

std::string SessionOpener::trouble() const {
  for (const auto& jump : jumps_) {
    if (std::string text = jump->trouble(); !text.empty()) return text;
  }
  return {};
}

void SessionOpener::open_jumps() {
  if (!jumps_.empty() && trouble().empty()) return;
  while (!jumps_.empty()) jumps_.pop_back();
  std::string way;
  for (const SshLogin& jump : login_.jumps) {
    const auto context = [&] {
      return fmt::format("connecting to {}, jump host {} of {}", login_.name(), jumps_.size() + 1,
                         login_.jumps.size());
    };
    try {
      SessionOpener opener(jump, jumps_.empty() ? nullptr : jumps_.back().get(), way);
      auto session = opener.open();
      log::verbose("{}: logged in with {}; continuing to {}", jump.name(), opener.method(),
                   login_.name());
      jumps_.push_back(std::make_unique<JumpHost>(std::move(session), jump));
      way += (way.empty() ? "" : ", ") + jump.name();
    } catch (const ConnectFailure& failure) {
      throw ConnectFailure(failure.why(), fmt::format("{}: {}", context(), failure.what()));
    } catch (const Error& error) {
      if (error.code() == Exit::interrupted) throw;
      throw error.with_context(context());
    }
  }
}

FileDescriptor SessionOpener::connect() {
  open_jumps();
  JumpHost* last = jumps_.empty() ? before_ : jumps_.back().get();
  return last != nullptr ? last->connect(login_) : tcp_connect(login_);
}

std::unique_ptr<SshSession> SessionOpener::try_to_open() {
  try {
    return open_once();
  } catch (const TooManyKeys& refused) {
    log::verbose("{}; trying again without the agent", refused.what());
    login_.run_hosts->refuse(agent_login(), refused.what());
    return open_once();
  } catch (const ConnectFailure& failure) {
    // If a jump host has failed, it is the cause.
    const std::string text = trouble();
    if (text.empty() || !failure.may_be_repeated()) throw;
    throw ConnectFailure(failure.why(), fmt::format("{}: {}", login_.name(), text));
  }
}

std::unique_ptr<SshSession> SessionOpener::open() {
  using Why = ConnectFailure::Why;
  RunHosts& run = *login_.run_hosts;
  const std::string login = run_login();
  if (const std::string refusal = run.refusal(login); !refusal.empty())
    throw ConnectFailure(Why::refused, refusal);
  try {
    auto session = try_to_open();
    run.succeed(login);
    return session;
  } catch (const ConnectFailure& failure) {
    if (failure.why() == Why::refused) run.refuse(login, failure.what());
    if (failure.why() != Why::unanswered || run.count_unanswered(login) < kMaxUnanswered) throw;
    const std::string text = fmt::format("{}; failed before, not tried again", failure.what());
    run.refuse(login, text);
    throw ConnectFailure(Why::refused, text);
  }
}

std::unique_ptr<SshConnection> SshConnection::open(const SshLogin& login) {
  const auto opener = std::make_shared<SessionOpener>(login);
  auto session = opener->open();
  auto loop = std::make_shared<SshLoop>(
      std::move(session), opener->name(), login.patience, [opener] { return opener->open(); },
      [opener] { return opener->trouble(); });
  return std::unique_ptr<SshConnection>(new SshConnection(std::move(loop), opener->method()));
}

SshConnection::~SshConnection() {
  loop_->close();
}

std::unique_ptr<SshCommand> SshConnection::start(const std::string& command,
                                                 const StreamSink& on_stdout,
                                                 const StreamSink& on_stderr,
                                                 const std::optional<SshTerminal>& terminal) {
  return SshChannel::open(loop_, {SshChannel::Request::exec, command, terminal}, on_stdout,
                          on_stderr);
}

bool SshConnection::runs_side_by_side() const {
  return loop_->is_shared();
}

std::unique_ptr<SftpFiles> SshConnection::begin_sftp() {
  const auto start = [loop = loop_](const StreamSink& sink) -> std::unique_ptr<SshCommand> {
    return SshChannel::open(loop, {SshChannel::Request::subsystem, "sftp", {}}, sink, {});
  };
  return sftp::SftpClient::begin(start, loop_->name(), loop_->patience());
}

std::unique_ptr<SftpFiles> SshConnection::sftp() {
  auto files = begin_sftp();
  if (!files->agree()) files.reset();
  return files;
}

}  // namespace msprof
