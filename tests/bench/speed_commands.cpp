// speed_commands MSPROF FOLDER [TASKS]: every command over a generated run of TASKS tasks, as
// ratios to its lower bound (floors.hpp) in the same run and to the time of the vendor's tool, and
// again over three times as many tasks to measure growth. Medians of three rounds; times are wall
// (CPU).
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cann_baselines.hpp"
#include "command_runs.hpp"
#include "floors.hpp"
#include "large_runs.hpp"
#include "support/prof/prof_run.hpp"

namespace {

namespace fs = std::filesystem;
using namespace msprof::bench;
using namespace msprof::test::prof;
using Words = std::vector<std::string>;

constexpr int kRounds = 3;
// Seconds of the vendor's tool for 1 M tasks, and of insert_seconds() on the same machine.
constexpr std::uint64_t kVendorTasks = 1'000'000;
constexpr double kVendorInsert = 2.7;

// A command, its baselines and its goals; 0 seconds means not set.
struct Row {
  const char* name;
  std::vector<std::string> words;
  bool from_raw = false;
  double vendor_seconds = 0;
  double times_goal = 0;    // minimum speed-up over the vendor's tool
  double seconds_goal = 0;  // upper limit
  std::vector<CommandRun> runs = {};
  double floor = 0;

  double seconds() const { return median_seconds(runs); }
};

using Rows = std::vector<Row>;

// A window in the middle of the run: a task takes about 2 us.
std::string time_window(std::uint64_t tasks) {
  return fmt::format("{}ms:{}ms", tasks / 1000, tasks / 1000 + 10);
}

Rows all_rows(std::uint64_t tasks) {
  return {
      {"raw to store", {"import"}, true, 29.6, 15},
      {"raw to timeline", {"export", "timeline"}, true, 122.8, 32},
      {"raw to summary", {"export", "summary"}, true, 122, 32},
      {"raw to database", {"export", "db"}, true, 108, 24},
      {"raw to everything", {"export", "all"}, true, 158, 22},
      {"timeline", {"export", "timeline"}},
      {"timeline --gzip", {"export", "timeline", "--gzip"}},
      {"summary", {"export", "summary"}},
      {"database", {"export", "db"}},
      {"10 ms of it", {"export", "timeline", "--time-range", time_window(tasks)}, false, 0, 0, 0.1},
      {"show", {"show"}, false, 0, 0, 0.1},
      {"query of v_ops", {"query", "SELECT * FROM v_ops", "--format", "csv"}, false, 0, 0, 0.1},
      {"advise", {"advise"}, false, 0, 0, 0.5},
      {"compare", {"compare"}, false, 0, 0, 1},
  };
}

// Commands that are also measured with three times the tasks.
Rows rows_of_growth(std::uint64_t tasks) {
  return {{"raw to store", {"import"}, true},
          {"raw to timeline", {"export", "timeline"}, true},
          {"raw to summary", {"export", "summary"}, true},
          {"raw to database", {"export", "db"}, true},
          {"advise", {"advise"}},
          {"10 ms of it",
           {"export", "timeline", "--time-range", time_window(tasks)},
           false,
           0,
           0,
           0.1}};
}

struct Capture {
  fs::path folder;
  std::uint64_t raw_bytes = 0;

  fs::path store() const { return folder / "sqlite" / "msprof.db"; }
  fs::path products() const { return folder / "mindstudio_profiler_output"; }
  std::uint64_t product_bytes(std::string_view prefix) const {
    std::uint64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(products())) {
      if (entry.path().filename().string().starts_with(prefix)) bytes += entry.file_size();
    }
    return bytes;
  }
  void remove_products() const {
    fs::remove_all(products());
    std::vector<fs::path> databases;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".db") databases.push_back(entry.path());
    }
    for (const fs::path& database : databases) fs::remove(database);
  }
};

Capture make_capture(const fs::path& home, std::uint64_t tasks, unsigned seed) {
  const MadeRun run = make_run(home, {}, large_run(tasks, seed));
  return {run.folder, run.facts.raw_bytes};
}

class Contest {
 public:
  Contest(std::string msprof, Capture capture, fs::path other)
      : msprof_(std::move(msprof)), capture_(std::move(capture)), other_(std::move(other)) {}

  void run(Rows& rows) const {
    for (Row& row : rows) {
      capture_.remove_products();
      if (row.from_raw) fs::remove_all(capture_.store().parent_path());
      std::vector<std::string> words = {msprof_};
      words.insert(words.end(), row.words.begin(), row.words.end());
      if (row.words[0] == "compare") {
        words.insert(words.end(), {capture_.folder.string(), other_.string()});
      } else {
        if (row.words[0] == "import" || row.words[0] == "export") words.push_back("-q");
        words.insert(words.end(), {"-dir", capture_.folder.string()});
      }
      row.runs.push_back(run_command(std::move(words)));
    }
  }

 private:
  std::string msprof_;
  Capture capture_;
  fs::path other_;
};

// Computes the minimum work of each row: raw files are read once, the columns of the store are read
// from pages or written directly as pages, and each byte of a product is written once.
void set_floors(Rows& rows, const Capture& capture, const fs::path& scratch, std::string msprof) {
  capture.remove_products();
  fs::remove_all(capture.store().parent_path());
  const double raw = read_once_seconds(capture.folder);
  run_command({std::move(msprof), "export", "all", "-q", "-dir", capture.folder.string()});
  const double columns = read_pages_seconds(capture.store());
  const double store = make_pages_seconds(capture.store(), scratch / "floor.db");
  const double database = make_pages_seconds(unified_db(capture.folder), scratch / "floor.db");
  const std::uint64_t timeline_bytes = capture.product_bytes("msprof_");
  const std::uint64_t bytes = bytes_in(capture.products());
  const double timeline = bare_write_seconds(scratch / "floor", timeline_bytes);
  const double summary = bare_write_seconds(scratch / "floor", bytes - timeline_bytes);
  const std::map<std::string_view, double> floors = {
      {"raw to store", raw + store},
      {"raw to timeline", raw + columns + timeline},
      {"raw to summary", raw + columns + summary},
      {"raw to database", raw + database},
      {"raw to everything", raw + store + columns + timeline + summary + database},
      {"timeline", columns + timeline},
      {"summary", columns + summary},
      {"database", columns + database}};
  for (Row& row : rows) {
    if (const auto floor = floors.find(row.name); floor != floors.end()) row.floor = floor->second;
  }
  fmt::print(
      "floor: raw files read once {:.2f} s, columns of the store from its pages {:.2f}, "
      "pages of the store {:.2f}, of the unified database {:.2f}, bytes of the timeline "
      "written {:.2f}, of the tables {:.2f}\n",
      raw, columns, store, database, timeline, summary);
}

void print(const Row& row, double machine, bool is_of_vendor) {
  double cpu = 0;
  for (const CommandRun& run : row.runs)
    cpu += run.cpu_seconds / static_cast<double>(row.runs.size());
  fmt::print("  {:18} {:6.2f} s ({:5.2f}) {:4.0f} MB", row.name, row.seconds(), cpu,
             peak_mb(row.runs));
  if (row.floor > 0)
    fmt::print("  {:5.2f} x the floor of {:.2f} s (goal 2)", row.seconds() / row.floor, row.floor);
  if (row.vendor_seconds > 0 && is_of_vendor) {
    fmt::print("  {:5.1f} x as fast as the vendor's (goal {})",
               row.vendor_seconds * machine / row.seconds(), row.times_goal);
  }
  if (row.seconds_goal > 0) {
    fmt::print("  {:5.2f} x the goal of {} s", row.seconds() / (row.seconds_goal * machine),
               row.seconds_goal);
  }
  fmt::print("\n");
}

double find_seconds(const Rows& rows, std::string_view name) {
  for (const Row& row : rows) {
    if (row.name == name) return row.seconds();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: speed_commands MSPROF FOLDER [TASKS]\n");
    return 2;
  }
  const fs::path scratch = fs::path(argv[2]) / "speed_commands";
  const std::uint64_t tasks = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1'000'000;
  fs::remove_all(scratch);
  const Capture one = make_capture(scratch / "one", tasks, 7);
  const Capture other = make_capture(scratch / "other", tasks, 8);
  const Capture three = make_capture(scratch / "three", 3 * tasks, 7);
  run_command({argv[1], "import", "-q", "-dir", other.folder.string()});

  Rows rows = all_rows(tasks);
  Rows grown = rows_of_growth(3 * tasks);
  std::vector<double> inserts;
  for (int round = 0; round < kRounds; ++round) {
    inserts.push_back(insert_seconds(scratch / "insert.db"));
    Contest(argv[1], one, other.folder).run(rows);
    Contest(argv[1], three, other.folder).run(grown);
  }
  const double machine = median(inserts) / kVendorInsert;
  fmt::print("cann, {} tasks, {:.0f} MB raw, medians of {} rounds, CPU in brackets\n", tasks,
             static_cast<double>(one.raw_bytes) / 1e6, kRounds);
  fmt::print("an insert of 5 M rows takes {:.2f} s, {:.2f} x that of the vendor's machine\n",
             median(inserts), machine);
  set_floors(rows, one, scratch, argv[1]);
  for (const Row& row : rows) print(row, machine, tasks == kVendorTasks);
  fmt::print("  --gzip is {:.2f} x the plain timeline (goal 1.3)\n",
             find_seconds(rows, "timeline --gzip") / find_seconds(rows, "timeline"));
  fmt::print("{} tasks, {:.0f} MB raw\n", 3 * tasks, static_cast<double>(three.raw_bytes) / 1e6);
  for (const Row& row : grown) {
    print(row, machine, false);
    fmt::print("  {:18} {:6.2f} x the time of a third of the tasks (goal 3.1)\n", "",
               row.seconds() / find_seconds(rows, row.name));
  }
  fs::remove_all(scratch);
  return 0;
}
