// During a run with --survive, cuts the connection to the board at a random moment, kills msprof,
// or keeps the board unreachable for a while: all output and records must arrive in the end, or
// msprof must report that the run did not start.
#include <signal.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "board/collect_board_fixture.hpp"
#include "soak/soak.hpp"
#include "support/board_server.hpp"
#include "support/files.hpp"
#include "support/network_proxy.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kLineBytes = 6 << 20;  // per second
constexpr std::uint64_t kSoakModelBytes = 3 << 20;
constexpr std::uint64_t kRecordedBytes = 2 << 20;
constexpr double kLatestCut = 5;  // seconds; a whole run takes about as long
constexpr int kMaxTries = 6;

BoardServer& shared_board(bool dropbear) {
  static std::unique_ptr<BoardServer> boards[2];
  auto& board = boards[dropbear ? 1 : 0];
  if (!board) {
    board = std::make_unique<BoardServer>(
        BoardOptions{.kind = dropbear ? BoardKind::dropbear : BoardKind::openssh});
  }
  return *board;
}

double chosen(SoakRandom& random, double most) {
  return std::uniform_real_distribution<double>(0, most)(random);
}

void rest(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

RunResult go_on(const BoardUser& user, const std::string& how) {
  return run_msprof({"collect", how, "--config", user.ini().string(), "--output",
                     user.output().string(), "--reconnect", "20"},
                    user.run_options());
}

// Describes what is missing from the results; empty if they are complete.
std::string missing(const BoardUser& user, const std::string& said) {
  for (const char* line : {"one\n", "three\n"}) {
    if (!contains(said, line)) return std::string("its output lacks ") + line;
  }
  for (const char* name : {"n1", "n2"}) {
    const fs::path file = user.in_job("data") / name;
    if (!fs::exists(file)) return file.string() + " is not there";
    if (read_file(file) != big_bytes(kRecordedBytes)) return file.string() + " has other bytes";
  }
  return "";
}

// Describes what the run wrongly left on the board; empty if nothing.
std::string left_on(const BoardServer& board) {
  const std::string litter = litter_on(board);
  fs::remove_all(board.home() / "msprof");
  return litter;
}

void trial(std::uint64_t number, SoakRandom& random, SoakReport& report) {
  const bool dropbear = chosen(random, 1) < 0.5;
  BoardServer& board = shared_board(dropbear);
  NetworkProxy network(board.port(), Line{.bytes_per_second = kLineBytes});
  const BoardUser user(board, network.port());
  write_file(user.project() / "models/n.om", big_bytes(kSoakModelBytes));
  const double moment = chosen(random, kLatestCut);
  const double second = chosen(random, 2);
  // 0, 1: cut the connection; 2: kill msprof; 3: board unreachable.
  const int what = static_cast<int>(chosen(random, 4));
  const bool away = what == 3;
  const std::string big = std::to_string(kRecordedBytes);
  const BoardCollecting run(user, {"--survive", "--reconnect", away ? "1" : "20"},
                            {"say", "one", "job", kBoardJob, "ready", user.at("ready"), "big", "n1",
                             big, "sleep", "1", "big", "n2", big, "say", "three"});
  // Most cuts should come after the login.
  if (chosen(random, 1) < 0.8)
    eventually([&] { return contains(run.err(), "Linux") || run.has_ended(); });
  rest(moment);
  const CutKind kind = chosen(random, 1) < 0.5 ? CutKind::reset : CutKind::close;
  if (away) network.refuse(true);
  network.cut_now(kind);
  if (what == 2) run.send(SIGKILL);
  if (what < 2) {
    rest(second);
    network.cut_now(kind);
  }
  const RunResult first = run.wait();
  network.refuse(false);
  std::string said = first.out;
  std::string errors = first.err;
  int code = first.signal != 0 ? -first.signal : first.exit_code;
  report.count("the first msprof ended with " + std::to_string(code));
  const bool begun = fs::exists(user.at("ready"));
  for (int i = 0; i < kMaxTries && code != 0; ++i) {
    const RunResult next = go_on(user, chosen(random, 1) < 0.5 ? "--attach" : "--fetch");
    said += next.out;
    errors += "\n--- then:\n" + next.err;
    if (next.exit_code == 4 && contains(next.err, "has no earlier run")) break;
    code = next.exit_code;
    if (code != 0) rest(1);
  }
  if (code != 0 && begun) return report.fail(number, "it began, and was lost:\n" + errors);
  if (code != 0) {
    report.count("the run had not begun");
    if (first.signal == 0 && !contains(first.err, "error"))
      report.fail(number, "it did not begin, and nothing was said:\n" + errors);
    fs::remove_all(board.home() / "msprof/cache");
    return;
  }
  const std::string wrong = missing(user, said);
  if (!wrong.empty()) return report.fail(number, wrong + "\n" + errors);
  report.count("all of it came");
  const std::string litter = left_on(board);
  if (!litter.empty()) report.fail(number, "the board keeps:\n" + litter + errors);
}

}  // namespace

int main(int argc, char** argv) {
  return run_soak(argc, argv, "board_lines", 200, trial);
}
