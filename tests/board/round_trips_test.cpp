// How often a run on a board waits for the line, and how full the packets of an upload are.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "board/collect_board_fixture.hpp"
#include "board/tar_transfer.hpp"
#include "support/files.hpp"
#include "support/network_proxy.hpp"

namespace msprof::test {

namespace {

// Two runs over a line of that round trip, the second with a copy of the project on the board. The
// counts of those that waited, or sent, more often than that; empty: none did.
std::string measure_run(std::chrono::microseconds round_trip, int most_round_trips,
                        int most_turns) {
  const BoardServer board;
  const DelayProxy line(board.port(), round_trip);
  BoardUser user(board, line.port());
  std::string too_many;
  // Files that were just made would be compared.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(user.project()))
    std::filesystem::last_write_time(
        entry, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  user.remember_project();
  for (const char* copy : {"new", "known"}) {
    const int turns_before = line.turns();
    const int before = line.round_trips();
    const RunResult run = user.collect({}, {"job", kBoardJob});
    const int round_trips = line.round_trips() - before;
    const int turns = line.turns() - turns_before;
    const std::string counts = std::string(copy) + " on the board: " + std::to_string(round_trips) +
                               " round trips, " + std::to_string(turns) + " turns\n";
    INFO(counts << run.err);
    CHECK(run.exit_code == 0);
    if (round_trips > most_round_trips || turns > most_turns) too_many += counts;
    CHECK(litter_on(board) + litter_of(user) == "");
    std::filesystem::remove_all(user.output());
  }
  return too_many;
}

}  // namespace

// A round trip is a wait: what the user's side sends a whole one after it sent the first of the
// last. A turn is anything that it sends after something of the board's has reached it, also what
// it waits for nothing with. With a command for each question there were 81 turns.
TEST_CASE("A run on a board asks what it wants to know at once") {
  // 12, and 11 where the board knows the project; more where it is slower than the line.
  constexpr int kMostRoundTrips = 14;
  constexpr int kMostTurns = 26;
  // Long beside what a board needs for an answer: what is sent together arrives together. Where it
  // is not long beside that, a longer one shows what is asked.
  std::string counts = measure_run(std::chrono::seconds(1), kMostRoundTrips, kMostTurns);
  for (const int seconds : {4, 16}) {
    if (counts.empty()) break;
    counts = measure_run(std::chrono::seconds(seconds), kMostRoundTrips, kMostTurns);
  }
  CHECK(counts == "");
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
