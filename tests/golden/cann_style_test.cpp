// Parts of whole runs: --model-id with --iteration-id, --device, and --style cann5. Compared with
// the complete tables.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "golden/cann_fixture.hpp"
#include "golden/timeline_file.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;
namespace fs = std::filesystem;

namespace {

struct Played {
  TempFolder folder;
  MadeRun run;

  Played() : run(make_run(folder.path(), setup(), shape())) {}
  static ProfSetup setup() {
    ProfSetup setup;
    setup.devices = {0, 3};
    return setup;
  }
  static RunShape shape() {
    RunShape shape;
    shape.tasks = 400;
    shape.steps = 3;
    return shape;
  }

  RunResult msprof(Lines words) const {
    words.insert(words.end(), {"-dir", run.folder.string()});
    return run_msprof(words);
  }
  // Exports the tables of `words` into a new folder; returns the folder.
  fs::path exported(const std::string& name, Lines words) const {
    const fs::path out = folder / name;
    words.insert(words.begin(), {"export", "summary", "-q", "--output", out.string()});
    const RunResult result = msprof(words);
    INFO(result.err);
    CHECK(result.exit_code == 0);
    return out / "mindstudio_profiler_output";
  }
};

CsvTable only_csv(const fs::path& folder, const std::string& prefix) {
  CsvTable table;
  int found = 0;
  for (const std::string& name : names_in(folder)) {
    if (!name.starts_with(prefix)) continue;
    table = parse_csv(read_file(folder / name));
    ++found;
  }
  CHECK(found == 1);
  return table;
}

// Converts "1700000000000012.340" to ns.
std::int64_t parse_ns(std::string text) {
  std::erase_if(text, [](char c) { return c < '0' || c > '9'; });
  return std::stoll(text);
}

// An iteration as printed in step_trace.
struct Iteration {
  std::string device, model, number;
  std::int64_t begin = 0, end = 0;
};
std::vector<Iteration> read_iterations(const CsvTable& steps) {
  std::vector<Iteration> all;
  for (std::size_t row = 0; row < steps.rows.size(); ++row) {
    const std::int64_t end = parse_ns(steps.cell(row, "Iteration End(us)"));
    all.push_back({steps.cell(row, "Device_id"), steps.cell(row, "Model ID"),
                   steps.cell(row, "Iteration ID"),
                   end - parse_ns(steps.cell(row, "Iteration Time(us)")), end});
  }
  return all;
}

bool is_within(const CsvTable& ops, std::size_t row, const Iteration& iteration) {
  const std::string& model = ops.cell(row, "Model ID");
  const std::int64_t start = parse_ns(ops.cell(row, "Task Start Time(us)"));
  return ops.cell(row, "Device_id") == iteration.device &&
         (model == iteration.model || model == "4294967295") && start >= iteration.begin &&
         start <= iteration.end;
}

}  // namespace

TEST_CASE("the rows of all iterations and those outside add up to the whole op_summary") {
  const Played played;
  const fs::path whole = played.exported("whole", {});
  const CsvTable ops = only_csv(whole, "op_summary");
  const auto iterations = read_iterations(only_csv(whole, "step_trace"));
  REQUIRE(iterations.size() == played.run.facts.steps);

  std::size_t in_parts = 0;
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    const Iteration& one = iterations[i];
    INFO(one.device + " " + one.model + " " + one.number);
    std::size_t expected = 0;
    for (std::size_t row = 0; row < ops.rows.size(); ++row) expected += is_within(ops, row, one);
    const fs::path part = played.exported(
        "part" + std::to_string(i),
        {"--device", one.device, "--model-id", one.model, "--iteration-id", one.number});
    if (expected > 0) CHECK(only_csv(part, "op_summary").rows.size() == expected);
    CHECK(only_csv(part, "step_trace").rows.size() == 1);
    CHECK(only_csv(part, "step_trace_" + one.device + "_" + one.model + "_" + one.number + "_")
              .cell(0, "Iteration ID") == one.number);
    in_parts += expected;
  }
  std::size_t outside = 0;
  for (std::size_t row = 0; row < ops.rows.size(); ++row) {
    outside += std::none_of(iterations.begin(), iterations.end(),
                            [&](const Iteration& one) { return is_within(ops, row, one); });
  }
  CHECK(in_parts > 0);
  CHECK(in_parts + outside == ops.rows.size());
}

TEST_CASE("the rows of each device add up to the whole, in every table of devices") {
  const Played played;
  const fs::path whole = played.exported("whole", {});
  const fs::path first = played.exported("first", {"--device", "0"});
  const fs::path second = played.exported("second", {"--device", "3"});
  for (const std::string table : {"op_summary", "task_time", "op_statistic", "step_trace",
                                  "communication_statistic", "aicpu", "memory_record"}) {
    INFO(table);
    const auto cells = only_csv(whole, table).column_cells("Device_id");
    for (const auto& [folder, device] : {std::pair(first, "0"), std::pair(second, "3")}) {
      const auto expected = std::count(cells.begin(), cells.end(), device);
      if (expected == 0) continue;
      const auto part = only_csv(folder, table).column_cells("Device_id");
      CHECK(part == Lines(static_cast<std::size_t>(expected), device));
    }
  }
}

TEST_CASE("an iteration that never ran and incomplete options are refused") {
  const Played played;
  const RunResult none =
      played.msprof({"export", "summary", "--model-id", "1", "--iteration-id", "99"});
  CHECK(none.exit_code == 2);
  CHECK(none.err.find("no iteration 99 of model 1; model ") != std::string::npos);
  CHECK(played.msprof({"export", "summary", "--model-id", "1"}).exit_code == 2);
}

TEST_CASE("style cann5 writes a file per topic and device, in the folders of CANN 5") {
  const Played played;
  const fs::path out = played.folder / "out";
  const RunResult result =
      played.msprof({"export", "summary", "--style", "cann5", "--output", out.string()});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.find("device_0: no data for dp, l2_cache") != std::string::npos);
  CHECK(names_in(out) == Lines{"device_0", "device_3", "host", "sqlite"});
  const fs::path first = out / "device_0" / "summary";
  for (const std::string name :
       {"acl_0.csv", "acl_statistic_0.csv", "ai_stack_time_0.csv", "fusion_op_0.csv",
        "ge_op_execute_0.csv", "op_statistic_0.csv", "op_summary_0.csv", "runtime_api_0.csv",
        "step_trace_0.csv", "task_time_0.csv"}) {
    INFO(name);
    CHECK(fs::exists(first / name));
  }
  CHECK(fs::exists(out / "device_3" / "summary" / "op_summary_3.csv"));

  // The same rows as in the current tables, without the device column.
  const CsvTable whole = only_csv(played.exported("whole", {}), "op_summary");
  const CsvTable old = only_csv(first, "op_summary_0");
  const auto devices = whole.column_cells("Device_id");
  CHECK(old.rows.size() ==
        static_cast<std::size_t>(std::count(devices.begin(), devices.end(), "0")));
  CHECK(old.header.front() == "Model ID");
  CHECK(old.header.size() + 1 == whole.header.size());
  CHECK_NOTHROW(old.column("Block Dim"));
  CHECK_NOTHROW(old.column("Task Start Time"));
}

TEST_CASE("files of style cann5 for one iteration are named after it, as CSV and JSON") {
  const Played played;
  const auto steps = only_csv(played.exported("whole", {}), "step_trace");
  const std::string model = steps.cell(0, "Model ID");
  const std::string number = steps.cell(0, "Iteration ID");
  const std::string device = steps.cell(0, "Device_id");
  const std::string end = "_" + device + "_" + model + "_" + number;
  const fs::path out = played.folder / "out";
  for (const std::string format : {"csv", "json"}) {
    const RunResult result = played.msprof(
        {"export", "summary", "step_trace", "task_time", "--style", "cann5", "--format", format,
         "--model-id", model, "--iteration-id", number, "--output", out.string(), "-q"});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    const fs::path folder = out / ("device_" + device) / "summary";
    const std::string extension = format == "csv" ? ".csv" : ".table.json";
    CHECK(fs::exists(folder / ("step_trace" + end + extension)));
  }
  const fs::path table =
      out / ("device_" + device) / "summary" / ("step_trace" + end + ".table.json");
  const auto json = nlohmann::json::parse(read_file(table));
  REQUIRE(json.size() == 1);
  CHECK(json.at(0).at("Iteration ID") == std::stoi(number));
}

TEST_CASE("each topic of style cann5 is a separate chrome-trace JSON") {
  const Played played;
  const fs::path out = played.folder / "out";
  const RunResult result = played.msprof(
      {"export", "timeline", "--style", "cann5", "--output", out.string(), "--device", "0"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK_FALSE(fs::exists(out / "device_3"));
  for (const std::string topic : {"acl", "ai_stack_time", "ge_op_execute", "hccl", "runtime_api",
                                  "step_trace", "task_time", "thread_group"}) {
    INFO(topic);
    CHECK(fs::exists(out / "device_0" / "timeline" / (topic + "_0.json")));
  }
  CHECK(names_in(out / "timeline") == Lines{"msprof_0.json"});
  CHECK(names_in(out / "host" / "timeline") == Lines{"msprof_tx_64.json"});
  for (const fs::path& file : fs::recursive_directory_iterator(out)) {
    const std::string name = file.filename().string();
    if (file.extension() != ".json") continue;
    INFO(name);
    CHECK((name.ends_with("_0.json") || name.ends_with("_64.json")));
    CHECK(nlohmann::json::parse(read_file(file)).size() > 1);
  }
}

TEST_CASE("an iteration of style cann5 has its tasks and all host calls") {
  const Played played;
  const auto steps = only_csv(played.exported("whole", {}), "step_trace");
  const std::string model = steps.cell(0, "Model ID");
  const std::string number = steps.cell(0, "Iteration ID");
  const std::string device = steps.cell(0, "Device_id");
  const std::string end = "_" + device + "_" + model + "_" + number;
  const fs::path out = played.folder / "out";
  const Lines one = {"--model-id", model, "--iteration-id", number};
  for (const bool is_one : {false, true}) {
    for (const std::string what : {"timeline", "summary"}) {
      Lines words = {"export", what, "--style", "cann5", "-q"};
      if (is_one) words.insert(words.end(), one.begin(), one.end());
      words.insert(words.end(), {"--output", (out / (is_one ? "one" : "all")).string()});
      const RunResult result = played.msprof(words);
      INFO(result.err);
      REQUIRE(result.exit_code == 0);
    }
  }
  const TimelineFile all(out / "all" / "timeline" / ("msprof_" + device + ".json"));
  const TimelineFile part(out / "one" / "timeline" / ("msprof" + end + ".json"));
  const auto slices = [](const TimelineFile& timeline) {
    std::map<std::int64_t, std::string> names;
    for (const Json& event : timeline.events()) {
      if (event.at("name") == "process_name") names[event.at("pid")] = event.at("args").at("name");
    }
    std::map<std::string, int> counts;
    for (const Json& event : timeline.events()) {
      if (event.at("ph") == "X") ++counts[names.at(event.at("pid"))];
    }
    return counts;
  };
  auto whole_counts = slices(all), part_counts = slices(part);
  for (const std::string name : {"MsprofTx", "AscendCL", "GE", "GeOPExecute", "Runtime"}) {
    INFO(name);
    CHECK(whole_counts[name] > 0);
    CHECK(part_counts[name] == whole_counts[name]);
  }
  CHECK(part_counts["Task Scheduler"] > 0);
  CHECK(part_counts["Task Scheduler"] < whole_counts["Task Scheduler"]);
  CHECK(part_counts["Step Trace"] > 0);

  const auto rows = [&](const std::string& which, const std::string& file) {
    return parse_csv(read_file(out / which / file)).rows;
  };
  for (const std::string table : {"acl", "acl_statistic", "runtime_api"}) {
    INFO(table);
    const auto whole =
        rows("all", "device_" + device + "/summary/" + table + "_" + device + ".csv");
    CHECK_FALSE(whole.empty());
    CHECK(rows("one", "device_" + device + "/summary/" + table + end + ".csv") == whole);
  }
  CHECK(rows("one", "host/summary/msprof_tx_64_" + number + ".csv") ==
        rows("all", "host/summary/msprof_tx_64.csv"));
  CHECK(fs::exists(out / "one" / "host" / "timeline" / ("msprof_tx_64_" + number + ".json")));
}

TEST_CASE("msprof_tx of style cann5 is a table of the host in ns") {
  const Played played;
  const fs::path out = played.folder / "out";
  const RunResult result = played.msprof(
      {"export", "summary", "msprof_tx", "--style", "cann5", "-q", "--output", out.string()});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const CsvTable old = parse_csv(read_file(out / "host" / "summary" / "msprof_tx_64.csv"));
  CHECK(old.header == Lines{"pid", "tid", "category", "event_type", "payload_type", "payload_value",
                            "Start_time(ns)", "End_time(ns)", "message_type", "message"});
  const CsvTable now = only_csv(played.exported("whole", {}), "msprof_tx");
  // The current table has an additional row for each device that reached a mark.
  REQUIRE_FALSE(old.rows.empty());
  CHECK(old.rows.size() <= now.rows.size());
  CHECK(old.cell(0, "message") == now.cell(0, "message"));
  CHECK(parse_ns(old.cell(0, "Start_time(ns)")) == parse_ns(now.cell(0, "Start_time(us)")));
  CHECK(parse_ns(old.cell(0, "End_time(ns)")) == parse_ns(now.cell(0, "End_time(us)")));
}

TEST_CASE("timelines of style cann5 name processes and arguments as CANN 5 did") {
  const Played played;
  const fs::path out = played.folder / "out";
  for (const std::string what : {"timeline", "summary"}) {
    const RunResult result = played.msprof(
        {"export", what, "--style", "cann5", "--output", out.string(), "--device", "0", "-q"});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
  }
  const fs::path folder = out / "device_0" / "timeline";
  const auto file = [&](const std::string& topic) {
    return TimelineFile(folder / (topic + "_0.json"));
  };
  const auto keys = [](const Json& object) {
    Lines all;
    for (const auto& [key, value] : object.items()) all.push_back(key);
    return all;
  };

  const TimelineFile hccl = file("hccl");
  REQUIRE(hccl.processes().size() == 1);
  CHECK(hccl.processes().front().starts_with("HCCL|NPU 0|"));
  CHECK(hccl.threads("HCCL").front() == "0|Plane 0|70000");
  CHECK(hccl.threads("HCCL").back() == "70000|Communication Kernel|0");
  for (const Json& event : hccl.events()) {
    if (event.at("ph") != "X") continue;
    CHECK(keys(event.at("args")) ==
          (event.at("tid") == 70000
               ? Lines{}
               : Lines{"notify_id", "duration estimated(us)", "stream id", "task id", "task type",
                       "src rank", "dst rank", "transport type", "size(Byte)", "data type",
                       "link type", "bandwidth(GB/s)"}));
  }

  // The same numbers as in op_summary, for the cores that were used.
  const CsvTable ops = only_csv(out / "device_0" / "summary", "op_summary_0");
  std::map<std::string, std::string> core_times;
  for (std::size_t row = 0; row < ops.rows.size(); ++row) {
    const std::string type = ops.cell(row, "Task Type");
    if (type != "AI_CORE" && type != "AI_VECTOR_CORE") continue;
    const std::string side = type == "AI_CORE" ? "aicore" : "aiv";
    const std::string cycles = type == "AI_CORE" ? "aic_total_cycles" : "aiv_total_cycles";
    core_times[ops.cell(row, "Stream ID") + " " + ops.cell(row, "Task ID")] =
        ops.cell(row, side + "_time(us)") + " " + ops.cell(row, cycles);
  }
  std::size_t compared = 0;
  const TimelineFile tasks = file("task_time");
  CHECK(tasks.processes().front().starts_with("Task Scheduler|"));
  for (const Json& event : tasks.events()) {
    if (event.at("ph") != "X") continue;
    const Json& args = event.at("args");
    CHECK(keys(args) ==
          Lines{"Task Type", "Stream Id", "Task Id", "Batch Id", "Aicore Time(ms)", "Total Cycle"});
    const auto known =
        core_times.find(args.at("Stream Id").dump() + " " + args.at("Task Id").dump());
    if (known == core_times.end()) {
      if (args.at("Task Type") == "AI_CPU") CHECK(args.at("Total Cycle") == "N/A");
      continue;
    }
    CHECK(args.at("Aicore Time(ms)").dump() + " " + args.at("Total Cycle").dump() == known->second);
    ++compared;
  }
  CHECK(compared > 100);
}

TEST_CASE("every arrow of style cann5 has a start, also with selected layers") {
  const Played played;
  const fs::path out = played.folder / "out";
  REQUIRE(played.msprof({"export", "timeline", "--style", "cann5", "--output", out.string(), "-q"})
              .exit_code == 0);
  const auto nowhere = [](const TimelineFile& timeline) {
    const Lines arrows = timeline.arrows();
    return std::count_if(arrows.begin(), arrows.end(), [](const std::string& arrow) {
      return arrow.find("|nowhere|") != std::string::npos;
    });
  };
  for (const fs::path folder : {"device_0/timeline", "device_3/timeline", "timeline"}) {
    for (const std::string& name : names_in(out / folder)) {
      INFO(name);
      CHECK(nowhere(TimelineFile(out / folder / name)) == 0);
    }
  }
  // Arrows lead from the end of an iteration to the start of the next one's computing, and their
  // distance is the bound.
  const TimelineFile steps(out / "device_0" / "timeline" / "step_trace_0.json");
  CHECK(steps.threads("Step Trace").size() > 0);
  std::map<std::string, std::int64_t> starts;
  std::size_t ends = 0;
  for (const Json& event : steps.events()) {
    if (event.at("ph") == "s") starts[event.at("id")] = parse_ns(event.at("ts"));
    if (event.at("ph") != "t") continue;
    ++ends;
    const double bound = event.at("args").at("Data_aug Bound(us)");
    CHECK(std::abs(parse_ns(event.at("ts")) - starts.at(event.at("id")) -
                   std::llround(bound * 1000)) <= 1);
  }
  CHECK(ends > 0);
  CHECK(ends < starts.size());

  const fs::path alone = played.folder / "alone";
  REQUIRE(played
              .msprof({"export", "timeline", "--layers", "ascend_hardware", "communication", "-q",
                       "--output", alone.string()})
              .exit_code == 0);
  const fs::path products = alone / "mindstudio_profiler_output";
  for (const std::string& name : names_in(products)) {
    CHECK(TimelineFile(products / name).arrows().empty());
  }
}

TEST_CASE("an unknown topic or table is refused with a list of the valid ones") {
  const Played played;
  const RunResult timeline =
      played.msprof({"export", "timeline", "--style", "cann5", "--layers", "overlap"});
  CHECK(timeline.exit_code == 2);
  CHECK(timeline.err.find("valid: ai_stack_time, thread_group, ") != std::string::npos);
  const RunResult table = played.msprof({"export", "summary", "runtime_api"});
  CHECK(table.exit_code == 2);
  CHECK(played.msprof({"export", "summary", "memory_record", "--style", "cann5"}).exit_code == 2);
}
