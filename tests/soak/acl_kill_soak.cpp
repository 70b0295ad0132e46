// Kills a recorded CANN application at a random moment: import must read the recording, which must
// contain everything that the application had done by then, except the record that each thread was
// writing.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <thread>

#include "acl/capture.hpp"
#include "soak/soak.hpp"
#include "support/files.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

// The counters of acl_program_workload, in the order of its struct.
enum Count : std::size_t { kExecutions, kLaunched, kRanges, kMarks, kCopies, kImages, kCounts };
using Counts = std::array<std::uint64_t, kCounts>;

constexpr double kMaxSeconds = 0.4;
// Two threads record stamps.
constexpr long kStampThreads = 2;

Counts read_counts(const fs::path& file) {
  Counts counts{};
  const std::string bytes = read_file(file);
  std::memcpy(counts.data(), bytes.data(), sizeof(counts));
  return counts;
}

// Describes what is wrong; empty if all is well.
std::string check(const fs::path& capture, const Counts& counts, SoakReport& report) {
  const ImportedCapture imported(capture);
  const int code = imported.import().exit_code;
  report.count("import ended with " + std::to_string(code));
  if (code != 0 && code != 3)
    return "import ended with " + std::to_string(code) + ": " + imported.import().err;
  const auto all = [&](const char* what, const std::string& sql, std::uint64_t counted, long most) {
    const long found = imported.number(sql);
    const auto done = static_cast<long>(counted);
    if (found >= done && found <= done + most) return std::string();
    return std::string(what) + ": " + std::to_string(done) + " were made, " +
           std::to_string(found) + " are in the store";
  };
  const std::string ranges = "SELECT count(*) FROM user_range WHERE event_type = ";
  for (const std::string& wrong :
       {all("ranges", ranges + "1", counts[kRanges], kStampThreads),
        all("marks", ranges + "0", counts[kMarks], kStampThreads),
        all("operators", "SELECT count(*) FROM task WHERE op_id IS NOT NULL",
            counts[kExecutions] * kSmallModelLayers, kSmallModelLayers)})
    if (!wrong.empty()) return wrong;
  return "";
}

void trial(std::uint64_t number, SoakRandom& random, SoakReport& report) {
  const TempFolder folder;
  const fs::path counters = folder / "counters";
  write_file(counters, std::string(sizeof(Counts), '\0'));
  const std::string model = small_model(folder.path());
  const fs::path output = folder / "out";
  RunningProgram program(acl_program("workload"),
                         {output.string(), model, "endless", counters.string()});
  std::uniform_real_distribution<double> moment(0, kMaxSeconds);
  std::this_thread::sleep_for(std::chrono::duration<double>(moment(random)));
  program.send(SIGKILL);
  const RunResult result = program.wait();
  if (result.signal != SIGKILL) return report.fail(number, "ended by itself: " + result.err);
  const Counts counts = read_counts(counters);
  const auto folders = prof_folders(output);
  if (folders.empty() || !fs::exists(folders.front() / "host" / "sample.json")) {
    report.count("killed before the recording");
    if (counts[kMarks] != 0) report.fail(number, "marks, and no folder");
    return;
  }
  const std::string wrong = check(folders.front(), counts, report);
  if (!wrong.empty()) report.fail(number, wrong);
}

}  // namespace

int main(int argc, char** argv) {
  return run_soak(argc, argv, "acl_kill", 1000, trial);
}
