// board_bench [ROUNDS]: file transfers to and from a board, and whole runs on it, compared with the
// public ssh and tar in the same run. The board is a real sshd on the loopback with busybox; `far`
// is the same board over a network with a round trip of 20 ms.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>

#include "board_contest.hpp"
#include "board_runs.hpp"
#include "ssh/ssh_connection.hpp"
#include "support/network_proxy.hpp"

namespace {

using namespace msprof;
using namespace msprof::bench;

constexpr std::uint64_t kBigBytes = 256'000'000;
constexpr std::uint64_t kFarBytes = 64'000'000;
constexpr std::uint64_t kSmallBytes = 4096;
constexpr int kManyFiles = 2000;
constexpr int kFewFiles = 200;
constexpr auto kRoundTrip = std::chrono::milliseconds(20);

struct Trees {
  explicit Trees(const fs::path& home)
      : big(home / "big"), many(home / "many"), few(home / "few"), far(home / "far") {
    make_big_file(big / "data/aicore.0", kBigBytes);
    make_small_files(many / "data", kManyFiles, kSmallBytes);
    make_small_files(few / "data", kFewFiles, kSmallBytes);
    make_big_file(far / "data/aicore.0", kFarBytes);
  }
  fs::path big;
  fs::path many;
  fs::path few;
  fs::path far;
};

void compare_fetch(BoardPeers& peers, int rounds, const std::string& name, const std::string& goal,
                   const fs::path& from, std::uint64_t files, std::uint64_t bytes,
                   TransferWay way = TransferWay::automatic) {
  const test::TempFolder here;
  const Outcome outcome = contest(
      rounds,
      [&] {
        const double seconds = peers.fetch(way, from, here / "ours");
        require_tree(here / "ours", files, bytes);
        return seconds;
      },
      [&] {
        const double seconds = peers.fetch_by_tools(from, here / "theirs");
        require_tree(here / "theirs", files, bytes);
        return seconds;
      });
  print_row(name, outcome, goal);
}

void compare_send(BoardPeers& peers, int rounds, const std::string& name, const std::string& goal,
                  const fs::path& from, const fs::path& home, std::uint64_t files,
                  std::uint64_t bytes) {
  const Outcome outcome = contest(
      rounds,
      [&] {
        const double seconds = peers.send(from, home / "sent");
        require_tree(home / "sent", files, bytes);
        fs::remove_all(home / "sent");
        return seconds;
      },
      [&] {
        const double seconds = peers.send_by_tools(from, home / "sent");
        require_tree(home / "sent", files, bytes);
        fs::remove_all(home / "sent");
        return seconds;
      });
  print_row(name, outcome, goal);
}

void compare_near(BoardPeers& peers, int rounds, const Trees& trees, const fs::path& home) {
  fmt::print(
      "board on the loopback, medians of {} rounds; x: times as fast as `ssh tar | tar`, both "
      "over a connection that is there\n",
      rounds);
  compare_fetch(peers, rounds, "fetch 256 MB", "0.9", trees.big, 1, kBigBytes);
  compare_fetch(peers, rounds, "fetch 2,000 files of 4 KB", "0.9", trees.many, kManyFiles,
                kManyFiles * kSmallBytes);
  compare_send(peers, rounds, "send 256 MB", "", trees.big, home, 1, kBigBytes);
  compare_send(peers, rounds, "send 2,000 files of 4 KB", "0.91", trees.many, home, kManyFiles,
               kManyFiles * kSmallBytes);
  compare_fetch(peers, rounds, "fetch 256 MB by SFTP", "", trees.big, 1, kBigBytes,
                TransferWay::sftp);
}

double read_by_sftp(BoardPeers& peers, const fs::path& file, std::uint64_t bytes,
                    SftpWindow window) {
  const auto sftp = peers.shell().connection().sftp();
  if (!sftp) throw std::runtime_error("the board has no SFTP");
  sftp->set_window(window);
  return measure_seconds([&] {
    const std::uint64_t count = sftp->read(file.string(), bytes, [](std::string_view) {});
    if (count != bytes) throw std::runtime_error("the file is not whole");
  });
}

// With one request at a time the whole file would take too long; a part of it has the same rate.
void compare_window(BoardPeers& peers, int rounds, const Trees& trees) {
  constexpr std::uint64_t kPart = 16;
  const SftpWindow usual;
  const Outcome outcome = contest(
      rounds, [&] { return read_by_sftp(peers, trees.far / "data/aicore.0", kFarBytes, usual); },
      [&] {
        return kPart * read_by_sftp(peers, trees.far / "data/aicore.0", kFarBytes / kPart,
                                    {1, usual.bytes});
      });
  print_row("64 MB by SFTP, window 16 against 1", outcome, "8");
}

void compare_far(BoardPeers& peers, int rounds, const Trees& trees) {
  fmt::print("the same board {} ms away\n", kRoundTrip.count());
  compare_fetch(peers, rounds, "fetch 200 files of 4 KB", "0.5", trees.few, kFewFiles,
                kFewFiles * kSmallBytes);
  const test::TempFolder here;
  print_row("the same, each with its login",
            contest(
                rounds, [&] { return peers.log_in_and_fetch(trees.few, here / "ours"); },
                [&] { return peers.log_in_and_fetch_by_tools(trees.few, here / "theirs"); }),
            "0.5");
  require_tree(here / "ours", kFewFiles, kFewFiles * kSmallBytes);
  compare_window(peers, rounds, trees);
  compare_fetch(peers, rounds, "fetch 64 MB", "", trees.far, 1, kFarBytes);
  compare_fetch(peers, rounds, "fetch 200 files of 4 KB by SFTP", "", trees.few, kFewFiles,
                kFewFiles * kSmallBytes, TransferWay::sftp);
  compare_fetch(peers, rounds, "fetch 200 files of 4 KB by cat", "", trees.few, kFewFiles,
                kFewFiles * kSmallBytes, TransferWay::cat);
}

void run(int rounds) {
  const test::BoardServer board;
  {
    const Trees trees(board.home());
    BoardPeers near(board, board.port());
    compare_near(near, rounds, trees, board.home());
    const test::DelayProxy network(board.port(), kRoundTrip);
    BoardPeers far(board, network.port());
    compare_far(far, rounds, trees);
  }
  compare_collect(board, rounds, kBigBytes);
  compare_far_collect(board, rounds, kRoundTrip);
  count_unchanged_upload(board, kFewFiles, kSmallBytes);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? std::max(std::atoi(argv[1]), 1) : 5);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "board_bench: {}\n", error.what());
    return 1;
  }
}
