// How a board reports earlier runs, and which of them are resumed.
#include "board/session/left_runs.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"

using namespace msprof;
using Catch::Matchers::Contains;

namespace {

constexpr const char* kAnswer =
    "run 20261123-170000-1 runs 90 anna@laptop -\n"
    "run 20261123-160000-2 ended - bob@desk carl@bench\n"
    "run 20261123-150000-3 kept - - -\n"
    "run 20261123-140000-4 busy - - -\n";

std::pair<Exit, std::string> refusal(const std::vector<LeftRun>& runs, const RunChoice& choice) {
  try {
    return {Exit::ok, choose_left_run(runs, choice, "board").name};
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
}

}  // namespace

TEST_CASE("Earlier runs are read from the board's answer, and nonsense is left out") {
  const auto runs = parse_left_runs(std::string(kAnswer) +
                                    "run ../../etc kept - - -\nrun a b\nrun x wild - - -\n"
                                    "hello\nrun $(reboot) kept - - -\n");
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].in_words() == "20261123-170000-1 (runs for 90 s, started by anna@laptop)");
  CHECK(runs[1].in_words() ==
        "20261123-160000-2 (has ended, its results have not been fetched, started by bob@desk, "
        "followed by carl@bench)");
  CHECK(runs[2].in_words() == "20261123-150000-3 (its recording is kept)");
  CHECK(runs[3].state == LeftRun::State::busy);
  CHECK(runs[3].in_words() == "20261123-140000-4 (its msprof is connected or may reconnect)");
}

TEST_CASE("One earlier run is chosen; of several, one has to be named") {
  const auto runs = parse_left_runs(kAnswer);
  auto [code, text] = refusal(runs, {});
  CHECK(code == Exit::usage);
  CHECK_THAT(text, Contains("3 runs") && Contains("160000-2") && !Contains("140000-4"));
  CHECK(refusal(runs, {"20261123-170000-1"}) ==
        std::pair<Exit, std::string>(Exit::ok, "20261123-170000-1"));
  CHECK(refusal({runs[2]}, {}) == std::pair<Exit, std::string>(Exit::ok, "20261123-150000-3"));
  CHECK(refusal({}, {}) ==
        std::pair<Exit, std::string>(Exit::nothing_to_do,
                                     "board has no earlier run that can be continued"));
  std::tie(code, text) = refusal({runs[3]}, {});
  CHECK(code == Exit::nothing_to_do);
  CHECK_THAT(text, Contains("no earlier run that can be continued") && Contains("140000-4"));
  std::tie(code, text) = refusal(runs, {"other"});
  CHECK(code == Exit::nothing_to_do);
  CHECK_THAT(text, Contains("no run other") && Contains("170000-1"));
}

TEST_CASE("A run that goes on, is followed or is connected is not taken without a word") {
  const auto runs = parse_left_runs(kAnswer);
  auto [code, text] = refusal(runs, {"20261123-170000-1", false});
  CHECK(code == Exit::nothing_to_do);
  CHECK_THAT(text, Contains("still in progress") && Contains("--attach 20261123-170000-1"));
  std::tie(code, text) = refusal(runs, {"20261123-160000-2"});
  CHECK(code == Exit::board_unreachable);
  CHECK_THAT(text, Contains("followed by carl@bench") && Contains("--force"));
  CHECK(refusal(runs, {"20261123-160000-2", true, true}).first == Exit::ok);
  CHECK(refusal(runs, {"20261123-140000-4", true, true}).first == Exit::board_unreachable);
}
