#include "ssh/ssh_connection.hpp"

#include <fmt/format.h>

#include "ssh/session_opener.hpp"
#include "ssh/sftp_client.hpp"
#include "ssh/ssh_loop.hpp"

namespace msprof {

namespace {

class Command : public SshCommand {
 public:
  explicit Command(std::unique_ptr<SshChannel> channel) : channel_(std::move(channel)) {}
  std::size_t write(std::string_view bytes) override { return channel_->write(bytes); }
  bool has_terminal() const override { return channel_->has_terminal(); }
  void resize(const SshTerminal& terminal) override { channel_->resize(terminal); }
  void close_input() override { channel_->close_input(); }
  std::optional<CommandEnd> wait(std::chrono::milliseconds limit) override {
    return channel_->wait(limit);
  }
  std::optional<CommandEnd> reported_end() const override { return channel_->reported_end(); }

 private:
  std::unique_ptr<SshChannel> channel_;
};

class Connection : public SshConnection {
 public:
  Connection(std::shared_ptr<SshLoop> loop, std::string method)
      : loop_(std::move(loop)), method_(std::move(method)) {}
  // Commands may still hold the loop; the connection ends now.
  ~Connection() override { loop_->close(); }

  std::string login_method() const override { return method_; }

  std::unique_ptr<SshCommand> start(const std::string& command, StreamSink on_stdout,
                                    StreamSink on_stderr,
                                    const std::optional<SshTerminal>& terminal) override {
    std::string refusal;
    auto channel = SshChannel::open(loop_, {SshChannel::Request::exec, command, terminal},
                                    std::move(on_stdout), std::move(on_stderr), refusal);
    if (!channel) {
      throw Error(Exit::board_unreachable,
                  fmt::format("{}: the board refuses to start a command: {}; does the account have "
                              "a login shell, and does its SSH server allow commands?",
                              loop_->name(), refusal));
    }
    return std::make_unique<Command>(std::move(channel));
  }

  std::unique_ptr<SftpFiles> sftp() override;

 private:
  std::shared_ptr<SshLoop> loop_;
  std::string method_;
};

std::unique_ptr<SftpFiles> Connection::sftp() {
  const auto start = [loop = loop_](StreamSink sink) -> std::unique_ptr<SshCommand> {
    std::string refusal;
    auto channel = SshChannel::open(loop, {SshChannel::Request::subsystem, "sftp", {}},
                                    std::move(sink), {}, refusal);
    if (!channel) return nullptr;
    return std::make_unique<Command>(std::move(channel));
  };
  return sftp::SftpClient::open(start, loop_->name());
}

}  // namespace

std::unique_ptr<SshConnection> SshConnection::open(const SshLogin& login) {
  const auto opener = std::make_shared<SessionOpener>(login);
  auto session = opener->open();
  auto loop = std::make_shared<SshLoop>(std::move(session), opener->name(),
                                        [opener] { return opener->open(); });
  return std::make_unique<Connection>(std::move(loop), opener->method());
}

}  // namespace msprof
