// Jobs in parallel processes: their output, their exit, and the limit on concurrent jobs.
#include "base/side_by_side.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"

using namespace msprof;

namespace {

using Lines = std::vector<std::string>;

Lines split_in_pieces(const std::string& bytes, std::size_t piece) {
  Lines lines;
  LineSplitter splitter([&](std::string_view line) { lines.emplace_back(line); });
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    splitter.add(std::string_view(bytes).substr(at, piece));
  splitter.finish();
  return lines;
}

struct Said {
  std::map<std::size_t, Lines> out;
  std::map<std::size_t, Lines> err;
  std::vector<SideEnd> ends;
};

Said run(const std::vector<SideWork>& works) {
  Said said;
  said.ends =
      run_side_by_side(works, [&](std::size_t work, SideStream stream, std::string_view line) {
        (stream == SideStream::out ? said.out : said.err)[work].emplace_back(line);
      });
  return said;
}

// Counters shared by the parent and its children.
struct SharedCounts {
  SharedCounts()
      : counts(static_cast<std::atomic<int>*>(::mmap(nullptr, sizeof(std::atomic<int>) * 2,
                                                     PROT_READ | PROT_WRITE,
                                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    REQUIRE(static_cast<void*>(counts) != MAP_FAILED);
  }
  ~SharedCounts() { ::munmap(counts, sizeof(std::atomic<int>) * 2); }
  SharedCounts(const SharedCounts&) = delete;
  SharedCounts& operator=(const SharedCounts&) = delete;
  std::atomic<int>* counts;
};

}  // namespace

TEST_CASE("Output is split into complete lines, and long lines into parts") {
  const std::string bytes = "one\ntwo\r\n\n10%\r20%\rlast";
  const Lines lines = {"one", "two", "", "10%", "20%", "last"};
  for (const std::size_t piece : {1U, 2U, 3U, 5U, 100U}) {
    INFO(piece);
    CHECK(split_in_pieces(bytes, piece) == lines);
  }
  CHECK(split_in_pieces("", 1).empty());
  CHECK(split_in_pieces("end\r", 1) == Lines{"end"});
  const std::string endless(LineSplitter::kMaxBytes * 2 + 5, 'x');
  const Lines parts = split_in_pieces(endless, 4096);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].size() == LineSplitter::kMaxBytes);
  CHECK(parts[2] == "xxxxx");
}

TEST_CASE("Parallel processes report lines, results and exit under their number") {
  const std::string big(300'000, 'r');
  const Said said = run({
      [&](std::string& result) {
        std::printf("from the first\nwithout an end");
        result = big;
        return 0;
      },
      [](std::string&) -> int {
        std::fprintf(stderr, "from the second\n");
        throw Error(Exit::board_unreachable, "no such board");
      },
      [](std::string& result) -> int {
        result = "never given";
        std::raise(SIGKILL);
        return 0;
      },
      [](std::string&) { return std::getchar() == EOF ? 7 : 0; },
  });
  REQUIRE(said.ends.size() == 4);
  CHECK(said.out.at(0) == Lines{"from the first", "without an end"});
  CHECK(said.err.at(1) == Lines{"from the second", "error: no such board"});
  CHECK(said.ends[0].exit_code == 0);
  CHECK(said.ends[0].is_whole);
  CHECK(said.ends[0].result == big);
  CHECK(said.ends[1].exit_code == 6);
  CHECK(said.ends[2].signal == SIGKILL);
  CHECK_FALSE(said.ends[2].is_whole);
  CHECK(said.ends[2].result.empty());
  CHECK(said.ends[3].exit_code == 7);
  CHECK(run({}).ends.empty());
}

TEST_CASE("Concurrent output of several processes is complete and in order") {
  constexpr int kLines = 20'000;
  const auto print = [](std::string&) {
    for (int i = 0; i < kLines; ++i) std::printf("line %d\n", i);
    return 0;
  };
  const Said said = run({print, print});
  for (const std::size_t work : {0U, 1U}) {
    const Lines& lines = said.out.at(work);
    REQUIRE(lines.size() == kLines);
    for (int i = 0; i < kLines; ++i)
      REQUIRE(lines[static_cast<std::size_t>(i)] == "line " + std::to_string(i));
  }
}

TEST_CASE("Slots limit the number of processes, and a killed one frees its slot") {
  const SharedCounts shared;
  const ProcessSlots slots(2);
  const auto hold = [&](std::string&) {
    for (int i = 0; i < 20; ++i) {
      const auto slot = slots.take();
      const int now = ++shared.counts[0];
      int most = shared.counts[1];
      while (now > most && !shared.counts[1].compare_exchange_weak(most, now)) {
      }
      ::usleep(500);
      --shared.counts[0];
    }
    return 0;
  };
  const Said said = run({hold, hold, hold, hold});
  for (const SideEnd& end : said.ends) CHECK(end.exit_code == 0);
  CHECK(shared.counts[1] <= 2);
  CHECK(shared.counts[1] >= 1);

  const ProcessSlots one(1);
  const Said rest = run({[&](std::string&) -> int {
                           const auto slot = one.take();
                           std::raise(SIGKILL);
                           return 0;
                         },
                         [&](std::string&) {
                           const auto slot = one.take();
                           return 0;
                         }});
  CHECK(rest.ends[0].signal == SIGKILL);
  CHECK(rest.ends[1].exit_code == 0);
}
