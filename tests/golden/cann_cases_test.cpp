// The shared cases, whose expected products come from the peer: csv and db of every case, json of
// every 910B case, compared by the comparer that comes with them; and more captures of their
// generator, by counting rows.
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>

#include "golden/cann_fixture.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

const fs::path kShared = MSPROF_SHARED_DIR;

bool shared_is_here() {
  if (fs::is_directory(kShared / "cases" / "cann")) return true;
  std::puts("skipped: ../shared is absent");
  return false;
}

// The one PROF folder in `parent`.
fs::path prof_in(const fs::path& parent) {
  const auto names = names_in(parent);
  REQUIRE(names.size() == 1);
  return parent / names.front();
}

void import_and_export(const fs::path& prof, const std::string& what = "summary") {
  for (const Lines& words : {Lines{"import", "-q"}, Lines{"export", what, "-q"}}) {
    Lines all = words;
    all.insert(all.end(), {"-dir", prof.string()});
    const RunResult result = run_msprof(all);
    INFO(words.front() << ": " << result.err);
    CHECK(result.exit_code == 0);
  }
}

// "equal", or what the comparer says of the files with that extension.
std::string compare(const fs::path& expected, const fs::path& actual, const std::string& extension,
                    bool with_tolerance) {
  Lines words = {(kShared / "tools" / "compare_cann.py").string()};
  if (with_tolerance) words.push_back("--tolerance");
  words.insert(words.end(), {expected.string(), actual.string()});
  for (const std::string& name : names_in(expected)) {
    if (fs::path(name).extension() == extension) words.push_back(name);
  }
  const RunResult result = run_program("/usr/bin/env", [&] {
    words.insert(words.begin(), "python3");
    return words;
  }());
  return result.exit_code == 0 ? "equal" : result.out + result.err;
}

// A capture of the shared generator and its products.
struct Generated {
  TempFolder folder;
  fs::path prof;
  explicit Generated(const std::string& options) {
    const std::string command = "exec python3 '" + (kShared / "tools" / "genprof.py").string() +
                                "' '" + folder.path().string() + "' " + options;
    const RunResult made = run_program("/bin/sh", {"-c", command});
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    prof = prof_in(folder.path());
    import_and_export(prof);
  }
  // All slices whose name holds `stem`, of the host or of one device.
  std::string raw(const std::string& part, const std::string& stem) const {
    std::string bytes;
    for (const std::string& name : names_in(prof / part / "data")) {
      if (name.find(stem + ".") == std::string::npos) continue;
      if (fs::path(name).extension() != ".done") bytes += read_file(prof / part / "data" / name);
    }
    return bytes;
  }
  CsvTable table(std::string_view stem) const {
    return read_product(prof / "mindstudio_profiler_output", stem);
  }
  std::uint64_t sum(std::string_view stem, std::string_view column) const {
    const CsvTable all = table(stem);
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < all.rows.size(); ++i) total += std::stoull(all.cell(i, column));
    return total;
  }
};

// How many records of `size` bytes have `value` at `at` (u32 & mask).
std::uint64_t count_records(const std::string& bytes, std::size_t size, std::size_t at,
                            std::uint32_t mask, std::uint32_t value) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i + size <= bytes.size(); i += size) {
    std::uint32_t field = 0;
    bytes.copy(reinterpret_cast<char*>(&field), sizeof field, i + at);
    if ((field & mask) == value) ++count;
  }
  return count;
}

std::uint64_t rows_of_type(const CsvTable& table, std::string_view column, std::string_view value) {
  const auto cells = table.column_cells(column);
  return static_cast<std::uint64_t>(std::count(cells.begin(), cells.end(), value));
}

void check_counts(const Generated& made, const std::vector<std::string>& devices,
                  const std::string& log_stem, std::uint32_t start_mask) {
  std::uint64_t tasks = 0;
  for (const std::string& device : devices) {
    tasks += count_records(made.raw(device, log_stem), 64, 0, start_mask, 0);
  }
  CHECK(tasks > 0);
  CHECK(made.table("task_time").rows.size() == tasks);

  const std::string basic = made.raw("host", "node_basic_info");
  const std::uint64_t collectives = count_records(basic, 64, 32, ~0u, 9);
  const std::uint64_t ops = basic.size() / 64 - collectives;
  const CsvTable op_summary = made.table("op_summary");
  const std::uint64_t comm_rows = rows_of_type(op_summary, "Task Type", "COMMUNICATION");
  CHECK(comm_rows >= collectives);  // two threads in one group split some of them
  CHECK(op_summary.rows.size() == ops + comm_rows);
  CHECK(made.sum("op_statistic", "Count") == ops);
  CHECK(made.sum("api_statistic", "Count") == made.raw("host", "api_event").size() / 40);
  CHECK(made.sum("communication_statistic", "Count") == comm_rows);

  CHECK(made.table("msprof_tx").rows.size() == made.raw("host", "msproftx").size() / 256);
  const std::uint64_t memory = made.raw("host", "task_memory_info").size() / 256;
  CHECK(made.table("memory_record").rows.size() == memory);
  CHECK(made.table("operator_memory").rows.size() == memory / 2);
}

}  // namespace

TEST_CASE("every product of every shared case is what the peer made of it, known defects aside") {
  if (!shared_is_here()) return;
  std::size_t compared = 0;
  for (const std::string& name : names_in(kShared / "cases" / "cann")) {
    const fs::path given = kShared / "cases" / "cann" / name;
    const TempFolder folder;
    fs::copy(given / "input", folder / "input", fs::copy_options::recursive);
    const fs::path prof = prof_in(folder / "input");
    const fs::path products = prof / "mindstudio_profiler_output";
    INFO(name);
    import_and_export(prof, "all");
    const bool is_python = name.starts_with("910a") || name.starts_with("310p");
    CHECK(compare(given / "expected", products, ".csv", is_python) == "equal");
    CHECK(compare(given / "expected", prof, ".db", is_python) == "equal");
    // The peer's other program writes the timelines of the older chips.
    if (!is_python) CHECK(compare(given / "expected", products, ".json", false) == "equal");
    ++compared;
  }
  CHECK(compared > 0);
}

TEST_CASE("rows of other generated 910B captures are as many as there are tasks and calls") {
  if (!shared_is_here()) return;
  const Generated made("--tasks 900 --seed 3311 --streams 6 --threads 3 --names 70 --steps 5");
  check_counts(made, {"device_0"}, "stars_soc", 0x3f);
  CHECK(made.table("step_trace").rows.size() == 5);
}

TEST_CASE("rows are as many on two devices with flips and slices of a megabyte") {
  if (!shared_is_here()) return;
  const Generated made(
      "--tasks 3000 --seed 98 --devices 2 --streams 5 --threads 4 --flip-at 90 --slice-mb 1");
  check_counts(made, {"device_0", "device_1"}, "stars_soc", 0x3f);
}

TEST_CASE("rows are as many on 910A and 310P") {
  if (!shared_is_here()) return;
  check_counts(Generated("--chip 910a --tasks 500 --seed 12"), {"device_0"}, "hwts", 0x7);
  check_counts(Generated("--chip 310p --tasks 500 --seed 13 --streams 2"), {"device_0"}, "hwts",
               0x7);
}

TEST_CASE("a capture without counters, collectives and memory has the other products") {
  if (!shared_is_here()) return;
  const Generated made("--tasks 300 --seed 5 --no-pmu --no-hccl --no-opmem");
  const CsvTable op_summary = made.table("op_summary");
  CHECK(op_summary.rows.size() == made.raw("host", "node_basic_info").size() / 64);
  CHECK(op_summary.header.back() == "Context ID");
  const fs::path products = made.prof / "mindstudio_profiler_output";
  CHECK(products_named(products, "communication_statistic").empty());
  CHECK(products_named(products, "operator_memory").empty());
}
