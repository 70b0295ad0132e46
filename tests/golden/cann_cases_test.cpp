// The shared cases, with expected products from the vendor's tool: csv and db of every case, json
// of every 910B case, compared by the cases' own comparer; and more captures of the same generator,
// checked by row counts.
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "golden/shared_cases.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

// Some cases have gaps in the running numbers of their records, which count as loss. No other
// finding is allowed.
void check_loss(const RunResult& import) {
  CHECK((import.exit_code == 0 || import.exit_code == 3));
  const auto document = nlohmann::json::parse(import.out);
  for (const auto& finding : document.at("captures").at(0).at("findings")) {
    if (finding.at("severity") != "partial") continue;
    INFO(finding.dump());
    CHECK(finding.at("id") == "records_missing");
  }
}

void import_and_export(const fs::path& prof, const std::string& what = "summary") {
  const RunResult import = run_msprof({"import", "-q", "--json", "-dir", prof.string()});
  INFO(import.err);
  check_loss(import);
  const RunResult exported = run_msprof({"export", what, "-q", "-dir", prof.string()});
  INFO(exported.err);
  CHECK(exported.exit_code == import.exit_code);
}

// "equal", or the comparer's output for the files with `extension`.
std::string compare(const fs::path& expected, const fs::path& actual, const std::string& extension,
                    bool with_tolerance) {
  Lines files = names_in(expected);
  std::erase_if(files, [&](const fs::path& name) { return name.extension() != extension; });
  return compare_products(expected, actual, with_tolerance ? Lines{"--tolerance"} : Lines{}, files);
}

// Converts us, e.g. "1715760307201793.880" or 1.5, to ns, and back.
std::int64_t us_to_ns(const Json& us) {
  std::string text = us.is_string() ? us.get<std::string>() : us.dump();
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string fraction = point < text.size() ? text.substr(point + 1) : "";
  fraction.resize(3, '0');
  return std::stoll(text.substr(0, point) + fraction);
}
std::string ns_to_us(std::int64_t ns) {
  std::string text = std::to_string(ns);
  return text.insert(text.size() - 3, ".");
}

// Copies the files of `expected` to `mended` and corrects two errors of the vendor's tool. Its
// Data_aug Bound arrows leave an iteration at BP End + bound / 2, which is checked first; the
// middle of the refresh is correct. All arrows of a model share an id; each gets a separate one.
// Everything else in the vendor's timelines is compared unchanged.
void mend_timelines(const fs::path& expected, const fs::path& mended) {
  fs::create_directory(mended);
  for (const std::string& name : names_in(expected)) {
    if (fs::path(name).extension() != ".json") continue;
    Json events = Json::parse(read_file(expected / name));
    std::map<std::string, Json> refreshes;  // by track and iteration
    const auto key = [](const Json& event, std::string_view stem) {
      return event.at("pid").dump() + " " + event.at("tid").dump() + " " +
             event.at("name").get<std::string>().substr(stem.size());
    };
    for (const Json& event : events) {
      constexpr std::string_view kRefresh = "Iteration Refresh ";
      if (event.at("name").get<std::string>().starts_with(kRefresh)) {
        refreshes[key(event, kRefresh)] = event;
      }
    }
    for (Json& event : events) {
      constexpr std::string_view kArrow = "Data_aug Bound ";
      const std::string arrow = event.at("name");
      if (!arrow.starts_with(kArrow)) continue;
      event["id"] = event.at("id").get<std::string>() + arrow;
      if (event.at("ph") != "s") continue;
      const Json& refresh = refreshes.at(key(event, kArrow));
      const std::int64_t back = us_to_ns(refresh.at("ts"));
      CHECK(us_to_ns(event.at("ts")) ==
            back + us_to_ns(event.at("args").at("Data_aug Bound(us)")) / 2);
      event["ts"] = ns_to_us(back + us_to_ns(refresh.at("dur")) / 2);
    }
    write_file(mended / name, events.dump());
  }
}

// Copies our csv files and database to `folder`, without the data that the vendor's tool omits:
// unnamed call levels are empty in its api_statistic and have no row in its ENUM_API_TYPE. Nothing
// else is removed.
void without_unnamed_levels(const fs::path& products, const fs::path& prof,
                            const fs::path& folder) {
  fs::create_directory(folder);
  const std::string known = "(5000, 5500, 10000, 15000, 20000)";
  std::set<std::string> levels;
  for (const std::string& name : names_in(prof)) {
    if (!name.ends_with(".db")) continue;
    fs::copy_file(prof / name, folder / name);
    const fs::path db = folder / name;
    for (const std::string& level :
         query(prof / "sqlite" / "msprof.db",
               "SELECT DISTINCT level FROM api_call WHERE level NOT IN " + known)) {
      levels.insert(level);
    }
    // Each removed level is used by a call.
    CHECK(query(db, "SELECT id FROM ENUM_API_TYPE WHERE id NOT IN " + known +
                        " AND id NOT IN (SELECT type FROM CANN_API)") == Lines{});
    query(db, "DELETE FROM ENUM_API_TYPE WHERE id NOT IN " + known);
  }
  for (const std::string& name : names_in(products)) {
    if (!name.ends_with(".csv")) continue;
    std::string text = read_file(products / name);
    if (name.starts_with("api_statistic")) {
      for (const std::string& level : levels) {
        const std::string cell = "\nhost," + level + ",";
        for (std::size_t at = 0; (at = text.find(cell, at)) != std::string::npos;) {
          text.replace(at, cell.size(), "\nhost,,");
        }
      }
    }
    write_file(folder / name, text);
  }
}

void check_timelines(const SharedCase& given) {
  mend_timelines(given.expected, given.folder / "mended");
  CHECK(compare(given.folder / "mended", given.products, ".json", false) == "equal");
}

// Timelines exported with --style cann5.
struct Cann5Timelines : SharedCase {
  Cann5Timelines() : SharedCase("cann", "910a_a") {
    const RunResult result =
        run_msprof({"export", "timeline", "--style", "cann5", "-q", "-dir", prof.string()});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
  }
};

// The parts of an event that CANN 5's readers depend on: phase, category, names that are not
// operator names, and the keys of the arguments with the types of their values. Numbers in names
// become '#'.
std::string event_shape(const Json& event) {
  const auto without_digits = [](std::string text) {
    std::string short_text;
    for (const char c : text) {
      const bool is_digit = c >= '0' && c <= '9';
      if (!is_digit) short_text += c;
      if (is_digit && !short_text.ends_with('#')) short_text += '#';
    }
    return short_text;
  };
  const std::string phase = event.at("ph");
  std::string shape = phase + " " + event.value("cat", "");
  if (phase != "X" || event.contains("cat")) shape += " " + without_digits(event.at("name"));
  Lines arguments;
  // Moments are numbers of a monotonic clock in the sample, but texts in our timelines, because
  // numbers would lose digits.
  const auto is_time = [](const std::string& key) {
    return key.find("Start") != std::string::npos || key.find("End") != std::string::npos;
  };
  const Json args = event.value("args", Json::object());
  for (const auto& [key, value] : args.items()) {
    std::string type = is_time(key) ? "time" : value.is_number() ? "number" : "text";
    if (phase == "M" && key == "name") type = without_digits(value);
    arguments.push_back(" " + without_digits(key) + ":" + type);
  }
  std::sort(arguments.begin(), arguments.end());
  for (const std::string& one : arguments) shape += one;
  return shape;
}

std::set<std::string> shapes_in(const fs::path& file) {
  std::set<std::string> shapes;
  for (const Json& event : Json::parse(read_file(file))) {
    const std::string shape = event_shape(event);
    // The set of streams, planes and orders depends on the run.
    if (!shape.starts_with("M  process_sort") && !shape.starts_with("M  process_labels")) {
      shapes.insert(shape);
    }
  }
  return shapes;
}

// A capture of the shared generator and its products.
struct Generated {
  TempFolder folder;
  fs::path prof;
  explicit Generated(const std::string& options) {
    const std::string command = "exec python3 '" +
                                (shared_folder() / "tools" / "genprof.py").string() + "' '" +
                                folder.path().string() + "' " + options;
    const RunResult made = run_program("/bin/sh", {"-c", command});
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    prof = prof_in(folder.path());
    import_and_export(prof);
  }
  // The joined bytes of all slices whose name contains `stem`, of the host or of one device.
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

// Counts the records of `size` bytes that have `value` at `at` (u32 & mask).
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
  CHECK(comm_rows >= collectives);  // two threads in one group split some collectives
  CHECK(op_summary.rows.size() == ops + comm_rows);
  CHECK(made.sum("op_statistic", "Count") == ops);
  CHECK(made.sum("api_statistic", "Count") == made.raw("host", "api_event").size() / 40);
  CHECK(made.sum("communication_statistic", "Count") == comm_rows);

  CHECK(made.table("msprof_tx").rows.size() == made.raw("host", "msproftx").size() / 256);
  const std::uint64_t memory = made.raw("host", "task_memory_info").size() / 256;
  CHECK(made.table("memory_record").rows.size() == memory);
  CHECK(made.table("operator_memory").rows.size() == memory / 2);
}

bool is_python(const std::string& name) {
  return name.starts_with("910a") || name.starts_with("310p");
}

// Compares all products, except for known defects of the vendor's tool.
void check_products(const std::string& name) {
  INFO(name);
  const SharedCase given("cann", name);
  import_and_export(given.prof, "all");
  const fs::path tables = given.folder / "tables";
  without_unnamed_levels(given.products, given.prof, tables);
  CHECK(compare(given.expected, tables, ".csv", is_python(name)) == "equal");
  CHECK(compare(given.expected, tables, ".db", is_python(name)) == "equal");
  // The vendor uses another program for timelines of older chips.
  if (!is_python(name)) check_timelines(given);
}

// Compares the shared cases for which `wanted` is true.
template <typename Wanted>
void compare_cases(const Wanted& wanted) {
  if (!has_cases_or_skip("cann")) return;
  std::size_t compared = 0;
  for (const std::string& name : names_in(shared_folder() / "cases" / "cann")) {
    if (!wanted(name)) continue;
    check_products(name);
    ++compared;
  }
  CHECK(compared > 0);
}

}  // namespace

TEST_CASE("every product of every shared case of a 910A or 310P equals the vendor's") {
  compare_cases(is_python);
}

// Split into two test cases, so that they run in parallel.
TEST_CASE(
    "every product of every shared case of a 910B from 910b_a to 910b_b equals the vendor's") {
  compare_cases([](const std::string& name) { return !is_python(name) && name < "910b_c"; });
}

TEST_CASE(
    "every product of every shared case of other chips, or later than 910b_b, equals the "
    "vendor's") {
  compare_cases([](const std::string& name) { return !is_python(name) && name > "910b_c"; });
}

// Newer collectors write the frequency records under another name.
TEST_CASE("a shared case with frequencies in lpmInfoConv.data has the same products") {
  if (!has_cases_or_skip("cann")) return;
  const SharedCase given("cann", "910b_b");
  std::size_t renamed = 0;
  for (const std::string device : {"device_0", "device_1"}) {
    for (std::string name : names_in(given.prof / device / "data")) {
      if (!name.starts_with("lpmFreqConv")) continue;
      const fs::path old = given.prof / device / "data" / name;
      fs::rename(old, old.parent_path() / name.replace(3, 4, "Info"));
      ++renamed;
    }
  }
  REQUIRE(renamed > 0);
  import_and_export(given.prof, "all");
  CHECK(compare(given.expected, given.products, ".csv", false) == "equal");
  CHECK(compare(given.expected, given.prof, ".db", false) == "equal");
  check_timelines(given);
}

TEST_CASE("generated 910B captures have as many rows as tasks and calls") {
  if (!has_cases_or_skip("cann")) return;
  const Generated made("--tasks 900 --seed 3311 --streams 6 --threads 3 --names 70 --steps 5");
  check_counts(made, {"device_0"}, "stars_soc", 0x3f);
  CHECK(made.table("step_trace").rows.size() == 5);
}

TEST_CASE("row counts are right for two devices with flips and slices of a megabyte") {
  if (!has_cases_or_skip("cann")) return;
  const Generated made(
      "--tasks 3000 --seed 98 --devices 2 --streams 5 --threads 4 --flip-at 90 --slice-mb 1");
  check_counts(made, {"device_0", "device_1"}, "stars_soc", 0x3f);
}

TEST_CASE("row counts are right on 910A and 310P") {
  if (!has_cases_or_skip("cann")) return;
  check_counts(Generated("--chip 910a --tasks 500 --seed 12"), {"device_0"}, "hwts", 0x7);
  check_counts(Generated("--chip 310p --tasks 500 --seed 13 --streams 2"), {"device_0"}, "hwts",
               0x7);
}

TEST_CASE("a capture without counters, collectives and memory has the other products") {
  if (!has_cases_or_skip("cann")) return;
  const Generated made("--tasks 300 --seed 5 --no-pmu --no-hccl --no-opmem");
  const CsvTable op_summary = made.table("op_summary");
  CHECK(op_summary.rows.size() == made.raw("host", "node_basic_info").size() / 64);
  CHECK(op_summary.header.back() == "Context ID");
  const fs::path products = made.prof / "mindstudio_profiler_output";
  CHECK(products_named(products, "communication_statistic").empty());
  CHECK(products_named(products, "operator_memory").empty());
}

TEST_CASE("vector core counters that the vendor's tool loses on a 310P are exported") {
  if (!has_cases_or_skip("cann")) return;
  const SharedCase given("cann", "310p_a");
  import_and_export(given.prof);
  const auto cells = [](const CsvTable& table) {
    std::map<bool, std::size_t> count;  // by presence of counters
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      if (table.cell(row, "Task Type") != "AI_VECTOR_CORE") continue;
      ++count[table.cell(row, "aicore_time(us)") != "N/A"];
    }
    return count;
  };
  const auto theirs = cells(parse_csv(read_file(given.expected / "op_summary.csv")));
  const auto ours = cells(read_product(given.products, "op_summary"));
  CHECK(theirs.count(true) == 0);
  CHECK(ours.count(false) == 0);
  CHECK(theirs.at(false) == ours.at(true));
}

TEST_CASE("timelines of style cann5 have the names, arguments, units and phases of a real one") {
  if (!has_cases_or_skip("cann")) return;
  const Cann5Timelines given;
  const fs::path real = shared_folder() / "samples" / "cann_timeline";
  const fs::path ours = given.prof / "device_0" / "timeline";
  for (const std::string topic : {"task_time", "hccl", "step_trace"}) {
    INFO(topic);
    auto expected = shapes_in(real / (topic + "_0_2_1.json"));
    auto found = shapes_in(ours / (topic + "_0.json"));
    // The real run's network fetched its data in another way.
    std::erase_if(found, [](const std::string& one) { return one.starts_with("X GetNext"); });
    // The sample is from 2023, when the process of the tasks already had its current name.
    if (topic == "task_time") {
      CHECK(found.erase("M  process_name name:Task Scheduler") == 1);
      CHECK(expected.erase("M  process_name name:Ascend Hardware") == 1);
    }
    CHECK(found == expected);
  }
}

TEST_CASE("the whole timeline of style cann5 has the rows of the analyser of that time") {
  if (!has_cases_or_skip("cann")) return;
  const Cann5Timelines given;
  const fs::path theirs =
      shared_folder() / "cases" / "old" / "cann5_a" / "expected" / "peer" / "timeline";
  const auto processes = [](const fs::path& file) {
    std::set<std::string> names;
    for (const Json& event : Json::parse(read_file(file))) {
      if (event.at("name") == "process_name") names.insert(event.at("args").at("name"));
    }
    return names;
  };
  auto expected = processes(theirs / "msprof_0_1_1.json");
  expected.merge(processes(theirs / "msprof_tx_64_1.json"));
  // Our AI CPU tasks are in the rows of their streams; our additional layers have separate rows.
  expected.erase("AI CPU");
  expected.erase("All Reduce");
  expected.erase("Model ID:1");
  auto found = processes(given.prof / "timeline" / "msprof_0.json");
  for (const char* more :
       {"Step Trace", "HCCL", "Communication", "Overlap Analysis", "AI Core Freq"})
    found.erase(more);
  CHECK(found == expected);
  CHECK(processes(given.prof / "host" / "timeline" / "msprof_tx_64.json") ==
        std::set<std::string>{"MsprofTx"});
  // The argument keys of calls.
  const auto arguments = [](const fs::path& file) {
    std::set<std::string> keys;
    for (const Json& event : Json::parse(read_file(file))) {
      if (event.at("ph") != "X") continue;
      for (const auto& [key, value] : event.at("args").items()) keys.insert(key);
    }
    return keys;
  };
  CHECK(arguments(given.prof / "device_0" / "timeline" / "acl_0.json") ==
        arguments(theirs / "acl_0_1_1.json"));
  CHECK(arguments(given.prof / "host" / "timeline" / "msprof_tx_64.json").contains("event_type"));
}
