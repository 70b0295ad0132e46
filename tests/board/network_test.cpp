// Checks the networks and fake servers of the tests.
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include "support/eventually.hpp"
#include "support/loopback.hpp"
#include "support/network_proxy.hpp"

namespace msprof::test {

namespace {

using namespace std::chrono_literals;

// Received bytes; `error` is 0 at end of file, else an errno.
struct Received {
  std::string bytes;
  int error = 0;
};

Received receive_all(const Descriptor& socket) {
  Received result;
  char buffer[65536];
  ssize_t count = 0;
  while ((count = ::recv(socket.get(), buffer, sizeof buffer, 0)) > 0) {
    result.bytes.append(buffer, static_cast<std::size_t>(count));
  }
  if (count < 0) result.error = errno;
  return result;
}

void send_all(const Descriptor& socket, const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t count = ::send(socket.get(), bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    REQUIRE(count > 0);
    at += static_cast<std::size_t>(count);
  }
}

bool has_something(const Descriptor& socket) {
  char byte = 0;
  return ::recv(socket.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
}

// A server for one connection at a time, driven by the test.
struct TestServer {
  std::uint16_t port = 0;
  Descriptor listener = listen_on_loopback(port);
  Descriptor accept() const {
    return Descriptor(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
};

std::string some_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>('a' + i % 26);
  return bytes;
}

}  // namespace

TEST_CASE("A reserved port refuses until its owner listens, and can be listened on again") {
  const ReservedPort port;
  for (int round = 0; round < 2; ++round) {
    CHECK_THROWS(connect_to_loopback(port.number()));
    CHECK_FALSE(somebody_listens(port.number()));
    const Descriptor listener = port.listen();
    CHECK(somebody_listens(port.number()));
    const Descriptor client = connect_to_loopback(port.number());
    CHECK(established_connections(port.number()) == 1);
  }
}

TEST_CASE("Two reserved ports are never the same") {
  const ReservedPort one;
  for (int i = 0; i < 200; ++i) CHECK(ReservedPort().number() != one.number());
}

TEST_CASE("A proxy passes on all bytes and both ends of file") {
  const TestServer target;
  const CutProxy proxy(target.port);
  const std::string bytes = some_bytes(3'000'000);
  const Descriptor client = connect_to_loopback(proxy.port());
  const Descriptor server = target.accept();
  std::thread sender([&] {
    send_all(server, bytes);
    ::shutdown(server.get(), SHUT_WR);
  });
  const Received down = receive_all(client);
  sender.join();
  CHECK(down.bytes == bytes);
  CHECK(down.error == 0);
  send_all(client, "the other way still works");
  ::shutdown(client.get(), SHUT_WR);
  CHECK(receive_all(server).bytes == "the other way still works");
  CHECK(proxy.bytes_down() == bytes.size());
  CHECK(proxy.bytes_up() == 25);
  CHECK(proxy.connections() == 1);
  CHECK(proxy.cuts() == 0);
}

TEST_CASE("A cut comes after exactly as many bytes of its direction") {
  const TestServer target;
  const auto kind = GENERATE(CutKind::reset, CutKind::close);
  const auto direction = GENERATE(Direction::up, Direction::down, Direction::both);
  const CutProxy proxy(target.port, {.after_bytes = 5000, .direction = direction, .kind = kind});
  const Descriptor client = connect_to_loopback(proxy.port());
  const Descriptor server = target.accept();
  if (direction == Direction::both) {
    send_all(server, some_bytes(2000));
    REQUIRE(eventually([&] { return proxy.bytes_down() == 2000; }));
    char buffer[2000];
    REQUIRE(::recv(client.get(), buffer, sizeof buffer, MSG_WAITALL) == 2000);
  }
  const bool up = direction != Direction::down;
  send_all(up ? client : server, some_bytes(4999));
  const Descriptor& receiver = up ? server : client;
  if (direction != Direction::both) {
    char buffer[4999];
    REQUIRE(::recv(receiver.get(), buffer, sizeof buffer, MSG_WAITALL) == 4999);
    CHECK(proxy.cuts() == 0);
    send_all(up ? client : server, "xyz");
  }
  const Received end = receive_all(receiver);
  if (kind == CutKind::reset) {
    CHECK(end.error == ECONNRESET);
  } else {
    CHECK(end.bytes.size() == (direction == Direction::both ? 3000 : 1));
  }
  CHECK(eventually([&] { return proxy.cuts() == 1; }));
}

TEST_CASE("A proxy freezes by itself after as many bytes, and goes on when it is told to") {
  const TestServer target;
  CutProxy proxy(target.port,
                 {.after_bytes = 5000, .direction = Direction::up, .kind = CutKind::freeze});
  const Descriptor client = connect_to_loopback(proxy.port());
  const Descriptor server = target.accept();
  send_all(client, some_bytes(6000));
  std::string bytes(6000, ' ');
  REQUIRE(::recv(server.get(), bytes.data(), 5000, MSG_WAITALL) == 5000);
  CHECK(eventually([&] { return proxy.cuts() == 1; }));
  CHECK_FALSE(has_something(server));
  proxy.freeze(false);
  REQUIRE(::recv(server.get(), bytes.data() + 5000, 1000, MSG_WAITALL) == 1000);
  CHECK(bytes == some_bytes(6000));
}

TEST_CASE("As many connections are cut as were ordered, and then all are refused if so ordered") {
  const NotSshServer target;
  const bool refuse = GENERATE(false, true);
  const CutProxy proxy(target.port(), {.after_bytes = 10,
                                       .direction = Direction::down,
                                       .connections = 2,
                                       .kind = CutKind::close,
                                       .refuse_afterwards = refuse});
  for (int i = 0; i < 2; ++i) {
    CHECK(receive_all(connect_to_loopback(proxy.port())).bytes == "HTTP/1.1 4");
  }
  REQUIRE(eventually([&] { return somebody_listens(proxy.port()) != refuse; }));
  if (refuse) {
    CHECK_THROWS(connect_to_loopback(proxy.port()));
  } else {
    CHECK(receive_all(connect_to_loopback(proxy.port())).bytes.size() > 10);
  }
  CHECK(proxy.cuts() == 2);
}

TEST_CASE("A proxy cuts, refuses and freezes when it is told to") {
  const TestServer target;
  CutProxy proxy(target.port);
  const Descriptor client = connect_to_loopback(proxy.port());
  const Descriptor server = target.accept();
  proxy.freeze(true);
  send_all(client, "held");
  // Sends two more commands: between them the proxy has processed its connections.
  proxy.freeze(true);
  proxy.freeze(true);
  CHECK(proxy.bytes_up() == 0);
  CHECK_FALSE(has_something(server));
  proxy.freeze(false);
  CHECK(eventually([&] { return has_something(server); }));
  proxy.cut_now();
  CHECK(receive_all(client).error == ECONNRESET);
  CHECK(proxy.cuts() == 1);
  proxy.refuse(true);
  CHECK_THROWS(connect_to_loopback(proxy.port()));
  proxy.refuse(false);
  CHECK_NOTHROW(connect_to_loopback(proxy.port()));
}

TEST_CASE("A delay holds bytes back for half a round trip and takes as many as come") {
  const TestServer target;
  SECTION("there and back is a round trip") {
    const DelayProxy proxy(target.port, 60ms);
    const Descriptor client = connect_to_loopback(proxy.port());
    const Descriptor server = target.accept();
    const auto begin = std::chrono::steady_clock::now();
    char byte = 'x';
    send_all(client, "x");
    REQUIRE(::recv(server.get(), &byte, 1, 0) == 1);
    send_all(server, "y");
    REQUIRE(::recv(client.get(), &byte, 1, 0) == 1);
    CHECK(byte == 'y');
    CHECK(std::chrono::steady_clock::now() - begin >= 60ms);
  }
  SECTION("what is sent while an answer is under way is a turn, and no round trip") {
    // If this machine is slower than the connection, both waits count as round trips.
    int round_trips = 0;
    for (const auto round_trip : {400ms, 4000ms, 40'000ms}) {
      const DelayProxy proxy(target.port, round_trip);
      const Descriptor client = connect_to_loopback(proxy.port());
      const Descriptor server = target.accept();
      char byte = 'x';
      // The server greets at once and answers the first byte.
      send_all(server, "g");
      send_all(client, "x");
      REQUIRE(::recv(client.get(), &byte, 1, 0) == 1);
      send_all(client, "a");
      REQUIRE(::recv(server.get(), &byte, 1, 0) == 1);
      send_all(server, "y");
      REQUIRE(::recv(client.get(), &byte, 1, 0) == 1);
      send_all(client, "z");
      CHECK(eventually([&] { return proxy.turns() == 2; }));
      round_trips = proxy.round_trips();
      if (round_trips == 2) break;
    }
    CHECK(round_trips == 2);
  }
  SECTION("16 MB are taken while nothing has arrived yet") {
    const DelayProxy proxy(target.port, 2h);
    const Descriptor client = connect_to_loopback(proxy.port());
    const Descriptor server = target.accept();
    send_all(server, some_bytes(16 << 20));
    CHECK(eventually([&] { return proxy.bytes_down() == 16 << 20; }));
    CHECK_FALSE(has_something(client));
  }
}

TEST_CASE("A proxy whose server is gone resets, and one whose client is gone tells the server") {
  TestServer target;
  const CutProxy proxy(target.port);
  {
    Descriptor client = connect_to_loopback(proxy.port());
    const Descriptor server = target.accept();
    client = Descriptor();
    CHECK(receive_all(server).bytes.empty());
  }
  target.listener = Descriptor();
  CHECK(receive_all(connect_to_loopback(proxy.port())).error == ECONNRESET);
}

TEST_CASE("A silent server takes connections and a web server answers as one") {
  const SilentServer silent;
  const Descriptor client = connect_to_loopback(silent.port());
  send_all(client, "SSH-2.0-hello\r\n");
  CHECK_FALSE(has_something(client));
  const NotSshServer web;
  const Descriptor other = connect_to_loopback(web.port());
  send_all(other, "SSH-2.0-hello\r\n");
  CHECK(receive_all(other).bytes.find("HTTP/1.1 400 Bad Request\r\n") == 0);
}

}  // namespace msprof::test
