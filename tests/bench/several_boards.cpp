// several_boards [ROUNDS]: four boards in parallel, compared with the slowest of them alone; once
// with an application that mostly waits, as during NPU work, and once with one that computes, where
// boards on one machine compete for its cores. Each board is a real sshd on the loopback.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/board_server.hpp"
#include "support/files.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace msprof;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::size_t kBoards = 4;

// A script that does `work` and then leaves a capture of 2 MB.
std::string application(const std::string& work) {
  return "#!/bin/sh\nset -e\n" + work + R"sh(
out=$(sed -n 's/.*"output": *"\([^"]*\)".*/\1/p' "${MSPROF_ACL_JSON:-acl.json}")
job=$out/JOBBENCHBENCHBENCHBENCHBENCHBENC
mkdir -p "$job/data"
echo '{"DeviceInfo": [{"aic_frequency": "1000"}]}' >"$job/info.json.0"
dd if=/dev/zero of="$job/data/bench.bin" bs=65536 count=32 2>/dev/null
)sh";
}

class Scene {
 public:
  Scene() {
    for (std::size_t i = 0; i < kBoards; ++i) {
      boards_.push_back(std::make_unique<test::BoardServer>());
      test::write_file(ini(i), fmt::format("[ssh_config]\nip = {}\nusername = {}\nport = {}\n"
                                           "key = {}\nhost_key = off\n",
                                           test::BoardServer::host(), test::BoardServer::user(),
                                           boards_[i]->port(), boards_[i]->client_key().string()));
    }
    test::write_file(folder_ / "project/acl.json", R"({"profiler": {"output": "out"}})");
    options_ = {.folder = folder_ / "project", .variables = boards_[0]->client_variables()};
  }

  void set_work(const std::string& work) const {
    test::write_file(folder_ / "project/run.sh", application(work));
    fs::permissions(folder_ / "project/run.sh", fs::perms::owner_all);
  }
  double seconds_on(const std::vector<std::size_t>& boards) const {
    Words words = {"collect", "-q", "-m", "run.sh", "--output", folder_ / "out"};
    for (const std::size_t board : boards) words.insert(words.end(), {"--config", ini(board)});
    const auto begin = std::chrono::steady_clock::now();
    const test::RunResult run = test::run_msprof(words, options_);
    if (run.exit_code != 0) throw std::runtime_error(run.err);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  fs::path ini(std::size_t board) const { return folder_ / fmt::format("b{}.ini", board + 1); }
  test::TempFolder folder_;
  std::vector<std::unique_ptr<test::BoardServer>> boards_;
  test::RunOptions options_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure(const Scene& scene, int rounds, const std::string& name, const std::string& work) {
  scene.set_work(work);
  scene.seconds_on({0, 1, 2, 3});  // warm-up: uploads the project to each board
  std::vector<double> slowest;
  std::vector<double> together;
  for (int round = 0; round < rounds; ++round) {
    double most = 0;
    for (std::size_t board = 0; board < kBoards; ++board)
      most = std::max(most, scene.seconds_on({board}));
    slowest.push_back(most);
    together.push_back(scene.seconds_on({0, 1, 2, 3}));
  }
  fmt::print("{:<24} slowest alone {:6.2f} s   four at once {:6.2f} s   x {:.2f}\n", name,
             median(slowest), median(together), median(together) / median(slowest));
}

void run(int rounds) {
  const Scene scene;
  fmt::print("four boards, medians of {} rounds, {} cores\n", rounds,
             std::thread::hardware_concurrency());
  measure(scene, rounds, "waits 5 s (at most 1.2)", "sleep 5");
  measure(scene, rounds, "computes", "i=0; while [ $i -lt 1000000 ]; do i=$((i + 1)); done");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? std::max(std::atoi(argv[1]), 1) : 3);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "several_boards: {}\n", error.what());
    return 1;
  }
}
