// A slow network that loses connections, in front of a board on the loopback. Compiled by
// scripts/demo-board. Implemented by NetworkProxy, which the tests also use.
//   line PORT SERVER_PORT BYTES_PER_SECOND CUT_EVERY_MS    0: no limit, never
// Listens on 127.0.0.1:PORT until SIGTERM or SIGINT.
#include <signal.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "support/network_proxy.hpp"

int main(int argc, char** argv) {
  using namespace msprof::test;
  if (argc != 5) return 2;
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  // Blocked before any thread starts, as new threads inherit the mask.
  sigset_t ending;
  ::sigemptyset(&ending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ending, signal);
  ::sigprocmask(SIG_BLOCK, &ending, nullptr);
  try {
    Line line;
    line.port = static_cast<std::uint16_t>(number(1));
    line.bytes_per_second = number(3);
    line.cut_every = std::chrono::milliseconds(number(4));
    const NetworkProxy proxy(static_cast<std::uint16_t>(number(2)), line);
    int received = 0;
    ::sigwait(&ending, &received);
    std::fprintf(stderr, "%d connections, %d cut\n", proxy.connections(), proxy.cuts());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "line: %s\n", error.what());
    return 1;
  }
}
