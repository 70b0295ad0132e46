// cann_commands MSPROF FOLDER [TASKS]: import, all csv, the timeline, the unified database, and all
// of it from raw data in one command, for generated runs of TASKS tasks and of a tenth of them.
// Prints ratios to a bare insert of the same rows and a bare write of the same bytes in the same
// run; medians of three rounds.
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "cann_baselines.hpp"
#include "command_runs.hpp"
#include "large_runs.hpp"
#include "support/prof/prof_run.hpp"

namespace {

namespace fs = std::filesystem;
using namespace msprof::bench;
using namespace msprof::test::prof;

constexpr int kRounds = 3;

struct Measured {
  RunInfo facts;
  std::uint64_t rows = 0, db_rows = 0, csv_bytes = 0, all_bytes = 0;
  double import_s = 0, csv_s = 0, timeline_s = 0, db_s = 0, all_s = 0;
  double insert_s = 0, db_insert_s = 0, write_s = 0, all_write_s = 0;
  double import_mb = 0, csv_mb = 0, timeline_mb = 0, db_mb = 0, all_mb = 0;
  double whole_s() const { return import_s + csv_s; }
  double json_mb() const { return static_cast<double>(all_bytes - csv_bytes) / 1e6; }
  double timeline_rate() const { return json_mb() / timeline_s; }
  double bare_all_s() const { return insert_s + db_insert_s + all_write_s; }
};

Measured measure(const std::string& msprof, const fs::path& scratch, std::uint64_t tasks) {
  const fs::path home = scratch / std::to_string(tasks);
  const MadeRun run = make_run(home, {}, large_run(tasks, 7));
  const fs::path out = home / "out";
  const std::vector<std::string> where = {"-q", "-dir", run.folder.string(), "--output",
                                          out.string()};
  const auto command = [&](std::vector<std::string> words) {
    words.insert(words.begin(), msprof);
    words.insert(words.end(), where.begin(), where.end());
    return run_command(std::move(words));
  };
  std::vector<CommandRun> imports, exports, timelines, dbs, alls;
  std::vector<double> inserts, writes, db_inserts, all_writes;
  const fs::path products = out / "mindstudio_profiler_output";
  Measured measured;
  for (int round = 0; round < kRounds; ++round) {
    fs::remove_all(out);
    imports.push_back(command({"import"}));
    exports.push_back(command({"export", "summary"}));
    inserts.push_back(bare_copy_seconds(out / "sqlite" / "msprof.db", home / "bare.db"));
    writes.push_back(measure_bare_write(products, home / "bare.csv"));
    measured.csv_bytes = bytes_in(products);
    timelines.push_back(command({"export", "timeline"}));
    dbs.push_back(command({"export", "db"}));
    db_inserts.push_back(bare_copy_seconds(unified_db(out), home / "bare.db"));
    fs::remove_all(out);
    alls.push_back(command({"export", "all"}));
    all_writes.push_back(measure_bare_write(products, home / "bare.csv"));
  }
  measured.facts = run.facts;
  measured.rows = rows_in(out / "sqlite" / "msprof.db");
  measured.db_rows = rows_in(unified_db(out));
  measured.all_bytes = bytes_in(products);
  measured.import_s = median_seconds(imports);
  measured.csv_s = median_seconds(exports);
  measured.insert_s = median(inserts);
  measured.write_s = median(writes);
  measured.import_mb = peak_mb(imports);
  measured.csv_mb = peak_mb(exports);
  measured.timeline_s = median_seconds(timelines);
  measured.timeline_mb = peak_mb(timelines);
  measured.db_s = median_seconds(dbs);
  measured.db_mb = peak_mb(dbs);
  measured.all_s = median_seconds(alls);
  measured.all_mb = peak_mb(alls);
  measured.db_insert_s = median(db_inserts);
  measured.all_write_s = median(all_writes);
  fs::remove_all(home);
  return measured;
}

void print(const Measured& m) {
  fmt::print("cann, {} tasks, {:.0f} MB raw, {:.2f} M rows, {:.0f} MB csv, medians of {} rounds\n",
             m.facts.tasks, static_cast<double>(m.facts.raw_bytes) / 1e6,
             static_cast<double>(m.rows) / 1e6, static_cast<double>(m.csv_bytes) / 1e6, kRounds);
  fmt::print(
      "  import              {:6.2f} x the rate of a bare insert of the same rows (goal 0.5): "
      "{:.2f} s, bare {:.2f} s, peak {:.0f} MB (goal 512)\n",
      m.insert_s / m.import_s, m.import_s, m.insert_s, m.import_mb);
  fmt::print(
      "  import and all csv  {:6.2f} x the time of a bare insert and a bare write (goal 3 or "
      "less): {:.2f} s + {:.2f} s, bare {:.2f} s + {:.2f} s, peak {:.0f} MB (goal 512)\n",
      m.whole_s() / (m.insert_s + m.write_s), m.import_s, m.csv_s, m.insert_s, m.write_s, m.csv_mb);
  fmt::print(
      "  timeline            {:6.0f} MB/s (goal 250): {:.0f} MB in {:.2f} s, peak {:.0f} MB\n",
      m.timeline_rate(), m.json_mb(), m.timeline_s, m.timeline_mb);
  fmt::print(
      "  unified database    {:6.2f} x the rate of a bare insert of the same {:.2f} M rows: {:.2f} "
      "s, bare {:.2f} s, peak {:.0f} MB\n",
      m.db_insert_s / m.db_s, static_cast<double>(m.db_rows) / 1e6, m.db_s, m.db_insert_s, m.db_mb);
  fmt::print(
      "  all from raw        {:6.2f} x the time of bare inserts (store and database) and a bare "
      "write (goal 2 or less): {:.2f} s, bare {:.2f} s, peak {:.0f} MB (goal 512)\n",
      m.all_s / m.bare_all_s(), m.all_s, m.bare_all_s(), m.all_mb);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: cann_commands MSPROF FOLDER [TASKS]\n");
    return 2;
  }
  const fs::path scratch = fs::path(argv[2]) / "cann_commands";
  const std::uint64_t tasks = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1'000'000;
  fs::remove_all(scratch);
  const Measured small = measure(argv[1], scratch, tasks / 10);
  print(small);
  const Measured large = measure(argv[1], scratch, tasks);
  print(large);
  fmt::print("  ten times the tasks {:6.2f} x the time (goal 10.5 or less)\n",
             large.whole_s() / small.whole_s());
  fs::remove_all(scratch);
  return 0;
}
