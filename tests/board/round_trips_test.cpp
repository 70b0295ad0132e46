// How often a run on a board waits for the network, and how full the packets of an upload are.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "board/collect_board_fixture.hpp"
#include "board/transfer/tar_transfer.hpp"
#include "support/files.hpp"
#include "support/network_proxy.hpp"

namespace msprof::test {

namespace {

// A round trip is a wait: the user's side sends data at least one round-trip time after the first
// bytes of the previous one. A turn is any transmission after receiving data from the board, with
// or without a wait. With one command per question there were 81 turns.
constexpr int kMostRoundTrips = 14;
constexpr int kMostTurns = 26;

void set_port(const BoardUser& user, std::uint16_t from, std::uint16_t to) {
  std::string ini = read_file(user.ini());
  const std::string line = "port = " + std::to_string(from) + "\n";
  ini.replace(ini.find(line), line.size(), "port = " + std::to_string(to) + "\n");
  write_file(user.ini(), ini);
}

// Runs over a connection with this round-trip time; if `is_known`, the board has a copy of the
// project. Returns the counts if they exceed the limits, else an empty text.
std::string measure_run(std::chrono::milliseconds round_trip, bool is_known) {
  const BoardServer board;
  const DelayProxy line(board.port(), round_trip);
  BoardUser user(board, line.port());
  // Recently changed files would be compared.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(user.project()))
    std::filesystem::last_write_time(
        entry, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  user.remember_project();
  if (is_known) {
    set_port(user, line.port(), board.port());
    REQUIRE(user.collect({}, {"job", kOtherBoardJob}).exit_code == 0);
    set_port(user, board.port(), line.port());
  }
  const RunResult run = user.collect({}, {"job", kBoardJob});
  const std::string counts = std::to_string(line.round_trips()) + " round trips, " +
                             std::to_string(line.turns()) + " turns";
  INFO(counts << "\n" << run.err);
  CHECK(run.exit_code == 0);
  const bool is_too_many = line.round_trips() > kMostRoundTrips || line.turns() > kMostTurns;
  CHECK(litter_on(board) + find_litter(user) == "");
  return is_too_many ? counts : "";
}

// The round trip must be long compared with the board's response time, so that data sent together
// arrives together. If not, a longer one is tried.
std::string measure_over_long_lines(bool is_known) {
  std::string counts;
  for (const int milliseconds : {350, 1'500, 6'000, 24'000}) {
    counts = measure_run(std::chrono::milliseconds(milliseconds), is_known);
    if (counts.empty()) break;
  }
  return counts;
}

}  // namespace

// 12 round trips; more if the board is slower than the connection.
TEST_CASE("The first run of a project on a board asks what it wants to know at once") {
  CHECK(measure_over_long_lines(false) == "");
}

// 11 round trips.
TEST_CASE("A run of a project that the board knows asks what it wants to know at once") {
  CHECK(measure_over_long_lines(true) == "");
}

TEST_CASE("Many small files leave as full pieces, of which each becomes a packet") {
  constexpr int kFiles = 2000;
  constexpr std::size_t kFileBytes = 100;
  constexpr std::size_t kPiece = 32 << 10;
  const TempFolder folder;
  std::vector<ProjectEntry> entries;
  for (int i = 0; i < kFiles; ++i) {
    ProjectEntry entry;
    entry.path = "f" + std::to_string(i);
    entry.source = folder / entry.path;
    entry.size_bytes = kFileBytes;
    entry.mode = 0644;
    write_file(entry.source, std::string(kFileBytes, 'x'));
    entries.push_back(std::move(entry));
  }
  const TransferProgress nobody;
  TarWriter writer(entries, nobody);
  std::vector<char> piece(kPiece);
  std::vector<std::size_t> sizes;
  while (const std::size_t size = writer.fill(piece.data(), piece.size())) sizes.push_back(size);
  REQUIRE(sizes.size() > 1);
  sizes.pop_back();
  CHECK(std::all_of(sizes.begin(), sizes.end(), [](std::size_t size) { return size == kPiece; }));
  CHECK(sizes.size() >= kFiles * 1024 / kPiece - 1);
}

}  // namespace msprof::test
