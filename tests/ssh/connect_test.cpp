#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "base/interrupt.hpp"
#include "ssh/tcp_connect.hpp"
#include "ssh_fixture.hpp"
#include "support/eventually.hpp"
#include "support/files.hpp"
#include "support/network_proxy.hpp"
#include "support/variable.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

// The limit applies to servers that send nothing; one that answers may be as slow as its machine.
SshLogin login_at(std::uint16_t port, double limit_seconds = kAmpleSeconds) {
  SshLogin login;
  login.host = "127.0.0.1";
  login.port = port;
  login.user = "board";
  login.host_key = HostKeyPolicy::off;
  login.connect_timeout_seconds = limit_seconds;
  return login;
}

// A server that sends `text` to every client, then stays silent or closes.
class Speaker {
 public:
  Speaker(std::string text, bool closes)
      : listener_(listen_on_loopback(port_)),
        thread_([this, text = std::move(text), closes] { run(text, closes); }) {}
  ~Speaker() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::uint16_t port() const { return port_; }

 private:
  void run(const std::string& text, bool closes) {
    for (;;) {
      Descriptor connection(::accept(listener_.get(), nullptr, nullptr));
      if (connection.get() < 0) return;
      ::send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (!closes) connections_.push_back(std::move(connection));
    }
  }
  std::uint16_t port_ = 0;
  Descriptor listener_;
  std::vector<Descriptor> connections_;
  std::thread thread_;
};

// Sends SIGINT to this process once a client is connected to `port`.
class Interrupter {
 public:
  explicit Interrupter(std::uint16_t port)
      : thread_([port] {
          while (established_connections(port) == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
          ::kill(::getpid(), SIGINT);
        }) {
    interrupt::install();
  }
  ~Interrupter() {
    thread_.join();
    interrupt::acknowledge();
  }

 private:
  std::thread thread_;
};

// Returns the error of a login whose server falls silent after `bytes` bytes; empty if the login
// succeeded before.
std::string silent_after(const BoardServer& board, std::uint64_t bytes, double limit_seconds) {
  CutProxy proxy(board.port());
  SshLogin login = login_through(board, proxy.port());
  login.connect_timeout_seconds = limit_seconds;
  std::atomic<bool> done = false;
  std::thread freezer([&] {
    while (proxy.bytes_down() < bytes && !done) std::this_thread::yield();
    proxy.freeze(true);
  });
  std::string text;
  try {
    SshConnection::open(login);
  } catch (const Error& error) {
    text = error.what();
  }
  done = true;
  freezer.join();
  return text;
}

}  // namespace

TEST_CASE("A port without a listener is reported as refused, with the port") {
  const ReservedPort port;
  const std::string text = login_refusal(login_at(port.number()));
  INFO(text);
  CHECK(contains(text, "board@127.0.0.1:" + std::to_string(port.number()) + ": "));
  CHECK(contains(text, "connection refused"));
  CHECK(contains(text, "SSH server"));
}

TEST_CASE("A host that accepts the connection and sends nothing times out") {
  const SilentServer server;
  const std::string text = login_refusal(login_at(server.port(), 0.5));
  INFO(text);
  CHECK(contains(text, "no answer within 0.5 s"));
  CHECK(contains(text, "connect_timeout"));
}

TEST_CASE("A host that stops after the greeting times out") {
  const Speaker server("SSH-2.0-half\r\n", false);
  // If the greeting takes longer than the limit, a longer limit is tried.
  std::string text;
  for (const double limit : {0.5, 4.0, 32.0}) {
    text = login_refusal(login_at(server.port(), limit));
    if (!contains(text, "no answer within")) break;
  }
  INFO(text);
  CHECK(contains(text, "SSH server has not answered for "));
}

TEST_CASE("A host that stops during the handshake or the login times out") {
  const BoardServer board;
  // Breaks during the key exchange, and after it.
  for (const std::uint64_t bytes : {60U, 700U, 1600U}) {
    // If the server's greeting takes longer than the limit, the handshake has not started: a longer
    // limit is tried.
    std::string text;
    for (const double limit : {0.5, 4.0, 32.0}) {
      text = silent_after(board, bytes, limit);
      if (!contains(text, "no answer within")) break;
    }
    INFO(text);
    if (!text.empty()) CHECK(contains(text, "has not answered for "));
    if (bytes == 60) CHECK_FALSE(text.empty());
  }
}

TEST_CASE("A server without SSH is reported, with its answer") {
  const NotSshServer server;
  const std::string text = login_refusal(login_at(server.port()));
  INFO(text);
  CHECK(contains(text, "is not an SSH server (it answered \"HTTP/1.1 400 Bad Request\")"));
}

TEST_CASE("A false server's answer cannot control the terminal") {
  const Speaker server("\x1b[31mevil\x07\n", true);
  const std::string text = login_refusal(login_at(server.port()));
  INFO(text);
  CHECK(contains(text, "evil"));
  CHECK_FALSE(contains(text, "\x1b"));
  CHECK_FALSE(contains(text, "\x07"));
}

TEST_CASE("A server that closes at once or sends endlessly is reported") {
  const Speaker closing("", true);
  CHECK(contains(login_refusal(login_at(closing.port())), "without an SSH greeting"));
  const Speaker talking(std::string(100'000, 'x'), true);
  CHECK(contains(login_refusal(login_at(talking.port())), "is not an SSH server"));
}

TEST_CASE("An unknown host is reported, with the name and a remedy") {
  SshLogin login = login_at(22);
  login.host = "no-such-board.invalid";
  login.connect_timeout_seconds = kAmpleSeconds;
  const std::string text = login_refusal(login);
  INFO(text);
  CHECK(contains(text, "no-such-board.invalid"));
  CHECK(contains(text, "192.168.1.10"));
}

TEST_CASE("Host names and addresses both connect") {
  const BoardServer board;
  SshLogin login = login_through(board, board.port());
  login.host = "localhost";
  // localhost may be ::1 first, where no server listens.
  CHECK(SshConnection::open(login) != nullptr);
}

TEST_CASE("Servers without a common algorithm are reported, with the lists of both sides") {
  const std::pair<const char*, const char*> options[] = {
      {"KexAlgorithms diffie-hellman-group1-sha1",
       "no common key exchange algorithm: the board offers diffie-hellman-group1-sha1, msprof "
       "supports curve25519-sha256, "},
      {"Ciphers aes128-cbc",
       "no common cipher algorithm: the board offers aes128-cbc, msprof supports chacha20"}};
  for (const auto& [option, sentence] : options) {
    BoardServer board;
    reconfigure(board, option);
    const std::string text = login_refusal(login_to(board));
    INFO(text);
    CHECK(contains(text, sentence));
    CHECK_FALSE(contains(text, ", ;"));
    CHECK(contains(text, "dropbear 2020.79"));
  }
}

TEST_CASE("A board with the SSH server of an old SDK works") {
  BoardServer board;
  const auto rsa = board.tools().parent_path() / "etc/rsa_key";
  tool("ssh-keygen -q -t rsa -b 2048 -N '' -f '" + rsa.string() + "'");
  reconfigure(board,
              "KexAlgorithms diffie-hellman-group14-sha1\nMACs hmac-sha1\nCiphers aes128-ctr\n"
              "HostKeyAlgorithms ssh-rsa\nHostKey " +
                  rsa.string());
  SshLogin login = login_to(board);
  login.host_key = HostKeyPolicy::accept_new;
  board.forget_host_key();
  const auto connection = SshConnection::open(login);
  CHECK(run(*connection, "echo here").out == "here\n");
}

TEST_CASE("The user's ssh configuration is not read") {
  const BoardServer board;
  const TempFolder home;
  const auto trace = home / "proxy-was-here";
  write_file(home / ".ssh/config", "Host *\n  ProxyCommand touch '" + trace.string() + "'\n");
  const Variable own_home("HOME", home.path());
  SshLogin login = login_to(board);
  login.ssh_folder.clear();
  login.host_key = HostKeyPolicy::accept_new;
  CHECK(SshConnection::open(login) != nullptr);
  CHECK_FALSE(std::filesystem::exists(trace));
  CHECK(std::filesystem::exists(home / ".ssh/known_hosts"));
}

TEST_CASE("TCP keepalive and no-delay are set") {
  const SilentServer server;
  const SshLogin login = login_at(server.port());
  const int silence_seconds = static_cast<int>(login.patience.silence_seconds);
  const FileDescriptor fd = tcp_connect(login);
  const auto option = [&](int level, int name) {
    int value = -1;
    socklen_t length = sizeof value;
    CHECK(::getsockopt(fd.get(), level, name, &value, &length) == 0);
    return value;
  };
  CHECK(option(SOL_SOCKET, SO_KEEPALIVE) == 1);
  CHECK(option(IPPROTO_TCP, TCP_NODELAY) == 1);
  CHECK(option(IPPROTO_TCP, TCP_KEEPIDLE) < silence_seconds);
  CHECK(option(IPPROTO_TCP, TCP_KEEPINTVL) < silence_seconds);
  CHECK(option(IPPROTO_TCP, TCP_USER_TIMEOUT) == silence_seconds * 1000);
}

TEST_CASE("Ctrl-C ends waiting for a silent host immediately") {
  const SilentServer server;
  SshLogin login = login_at(server.port());
  login.connect_timeout_seconds = 3600;
  const Interrupter interrupter(server.port());
  thrown_message(Exit::interrupted, [&] { SshConnection::open(login); });
}

TEST_CASE("A connection lost during the login is reported") {
  const BoardServer board;
  for (const std::uint64_t bytes : {5U, 30U, 400U, 1500U}) {
    CutProxy proxy(board.port(), {.after_bytes = bytes, .direction = Direction::down});
    const std::string text = login_refusal(login_through(board, proxy.port()));
    INFO(bytes << ": " << text);
    CHECK(contains(text, "board@127.0.0.1:" + std::to_string(proxy.port()) + ": "));
    CHECK_FALSE(contains(text, board.password()));
  }
}

TEST_CASE("A user name rejected by the library is an error") {
  SshLogin login = login_at(22);
  const BoardServer board;
  login.port = board.port();
  login.user = "";
  CHECK(contains(thrown_message(Exit::usage, [&] { SshConnection::open(login); }), "user name"));
}
