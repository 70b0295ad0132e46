// `msprof --analyze=on`, and the rate of RDMA payloads: compared with the vendor's tool for the
// shared cases, and with numbers calculated by hand.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "golden/shared_cases.hpp"
#include "golden/timeline_file.hpp"
#include "support/lines.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kOtherHash = 999'000'000'000'000'417;

RunResult analyse(const fs::path& prof, Lines words = {}) {
  Lines all = {"--analyze=on", "--output=" + prof.string()};
  all.insert(all.end(), words.begin(), words.end());
  return run_msprof(all);
}

// Lists the differences between two documents that exceed the rounding noise of the vendor's sums.
void compare(const Json& expected, const Json& found, const std::string& place,
             Lines& differences) {
  if (expected.is_number() && found.is_number()) {
    const auto a = expected.get<double>();
    const auto b = found.get<double>();
    if (std::abs(a - b) > 1e-6 * std::max(std::abs(a), std::abs(b)) + 1e-12)
      differences.push_back(place + ": " + expected.dump() + " " + found.dump());
    return;
  }
  if (expected.type() != found.type() || expected.size() != found.size()) {
    differences.push_back(place + ": " + expected.dump() + " " + found.dump());
    return;
  }
  if (!expected.is_structured()) {
    if (expected != found)
      differences.push_back(place + ": " + expected.dump() + " " + found.dump());
    return;
  }
  for (const auto& [key, value] : expected.items()) {
    const std::string below = place + "/" + key;
    const Json* other = nullptr;
    if (found.is_array()) {
      other = &found.at(std::stoul(key));
    } else if (found.contains(key)) {
      other = &found.at(key);
    }
    other == nullptr ? differences.push_back(below + " is missing")
                     : compare(value, *other, below, differences);
  }
}

Lines find_differences(const fs::path& expected, const fs::path& found) {
  Lines differences;
  compare(Json::parse(read_file(expected)), Json::parse(read_file(found)), "", differences);
  return differences;
}

// Rows of a table with numbers rounded to the precision of the vendor's sums.
Lines query_rows(const fs::path& db, const std::string& table) {
  Lines columns = query(db, "SELECT name FROM pragma_table_info('" + table + "')");
  std::string cells;
  for (const std::string& name : columns)
    cells += (cells.empty() ? "" : ", ") + ("iif(typeof(" + name + ") IN ('real', 'integer'), " +
                                            "printf('%.7g', " + name + "), " + name + ")");
  Lines rows = query(db, "SELECT " + cells + " FROM " + table);
  std::sort(rows.begin(), rows.end());
  return rows;
}

// "name ts rate" of every task of a collective in a timeline.
std::multiset<std::string> rates_in(const Json& events) {
  std::multiset<std::string> rates;
  for (const Json& event : events) {
    const auto args = event.find("args");
    if (args == event.end() || !args->contains("bandwidth(GB/s)") || !args->contains("notify_id"))
      continue;
    const Json& ts = event.at("ts");
    char rate[32];
    std::snprintf(rate, sizeof rate, "%.9g", args->at("bandwidth(GB/s)").get<double>());
    rates.insert(event.at("name").get<std::string>() + " " +
                 (ts.is_string() ? ts.get<std::string>() : ts.dump()) + " " + rate);
  }
  return rates;
}

CommStep step(const std::string& item, std::uint16_t task, std::uint64_t start, std::uint64_t end,
              std::uint64_t size) {
  CommStep made;
  made.item = item;
  made.task_type = item == "Notify_Wait" ? kNotifyWait : kMemcpyAsync;
  made.device = {9, task, start, end, 0};
  made.size = size;
  return made;
}

CommStep payload(std::uint16_t task, std::uint64_t start, std::uint64_t end, std::uint64_t size) {
  CommStep made = step("RDMASend", task, start, end, size);
  made.transport = 1;
  made.link = 3;
  made.rdma = 1;
  return made;
}

CommStep remark(std::uint16_t task, std::uint64_t start, std::uint64_t end) {
  CommStep made = step("RDMASend", task, start, end, 4);
  made.transport = 1;
  made.link = 3;
  made.rdma = 0;
  return made;
}

struct AnalysisRun : ProfCapture {
  explicit AnalysisRun(const ProfSetup& setup = {}) : ProfCapture(setup) {
    prof.set_hash(kGroupHash, "group_a");
    prof.set_hash(kOtherHash, "group_b");
  }
  void play(const std::string& name, const std::vector<CommStep>& steps, std::uint64_t begin) {
    Collective op;
    op.name = name;
    op.group = "group_a";
    op.steps = steps;
    scene.collective(op, kThread, begin);
  }
  fs::path analysis(const std::string& name) const { return prof.folder() / "analyze" / name; }
  Json json(const std::string& name) const { return Json::parse(read_file(analysis(name))); }
};

const std::string kKey = "hcom_allReduce__101_026_0_1@12345678900000026";

}  // namespace

TEST_CASE("the analyses of the shared captures equal those of the vendor's tool") {
  if (!has_cases_or_skip("kinds")) return;
  std::size_t compared = 0;
  for (const std::string& name : names_in(shared_folder() / "cases" / "kinds")) {
    if (!name.starts_with("hccl_a"))
      continue;  // the other cases have collectives of several devices
    const SharedCase given("kinds", name);
    const RunResult result = analyse(given.prof);
    INFO(result.err);
    const fs::path found = given.prof / "analyze";
    CHECK(names_in(found) ==
          Lines{"communication.json", "communication_analyzer.db", "communication_matrix.json"});
    for (const char* file : {"communication.json", "communication_matrix.json"})
      CHECK(contains(result.out, "\n{\"status\": 0, \"info\": \"\", \"data\": \"" +
                                     (found / file).string() + "\"}\n"));
    const fs::path expected = given.expected / "analyze";
    for (const char* file : {"communication.json", "communication_matrix.json"})
      CHECK(find_differences(expected / file, found / file) == Lines{});
    for (const char* table : {"CommAnalyzerTime", "CommAnalyzerBandwidth", "CommAnalyzerMatrix"}) {
      INFO(table);
      const fs::path db = "communication_analyzer.db";
      CHECK(query_rows(found / db, table) == query_rows(expected / db, table));
    }
    ++compared;
  }
  CHECK(compared > 0);
}

TEST_CASE("RDMA payloads have the rate of their transfer in a timeline, as in the vendor's tool") {
  if (!has_cases_or_skip("kinds")) return;
  const SharedCase given("kinds", "hccl_a");
  REQUIRE(run_msprof({"export", "timeline", "-q", "-dir", given.prof.string()}).exit_code % 3 == 0);
  const Json expected = Json::parse(read_file(given.expected / "msprof.json"));
  std::multiset<std::string> found;
  for (const std::string& name : names_in(given.products))
    if (name.starts_with("msprof_2"))
      found = rates_in(Json::parse(read_file(given.products / name)));
  CHECK(found.size() > 500);
  CHECK(found == rates_in(expected));
}

TEST_CASE(
    "the duration of a collective follows from its tasks, RDMA transfers from the first to the "
    "closing task") {
  AnalysisRun run;
  CommStep own = step("Memcpy", 9, 19'000, 19'500, 2'000'000);
  own.link = 0;  // link on the chip
  own.remote_rank = 0;
  CommStep other_plane = step("Reduce_Inline", 10, 12'600, 14'600, 40'000'000);
  other_plane.link = 2;  // PCIE
  other_plane.plane = 1;
  other_plane.is_master = false;
  run.play("hcom_allReduce__101",
           {step("Notify_Wait", 0, 10'000, 11'000, 0), step("Memcpy", 1, 11'000, 12'000, 64),
            step("Notify_Wait", 2, 12'000, 12'500, 0), other_plane,
            // Two payloads; their transfer ends with the fourth task after them, which closes it.
            payload(3, 13'000, 13'100, 300'000), payload(4, 13'100, 13'200, 300'000),
            remark(5, 13'200, 13'300), step("Notify_Wait", 6, 13'300, 15'000, 0),
            remark(7, 15'000, 15'100), step("Notify_Wait", 8, 15'100, 16'000, 0), own,
            // A payload without its closing task.
            payload(11, 20'000, 20'500, 1000)},
           1000);
  run.products();
  REQUIRE(analyse(run.prof.folder()).exit_code == 0);
  const Json item = run.json("communication.json").at(kKey);
  const Json& times = item.at("Communication Time Info");
  CHECK(times.at("Start Timestamp(us)").get<double>() == std::stod(moment(10'000)));
  CHECK(times.at("Elapse Time(ms)") == 0.0105);
  CHECK(times.at("Transit Time(ms)") == 0.004);  // 1 us of copies, 3 us of RDMA
  CHECK(times.at("Wait Time(ms)") == 0.0015);    // waits within the transfer are excluded
  CHECK(times.at("Synchronization Time(ms)") == 0.001);
  CHECK(times.at("Idle Time(ms)") == 0.005);
  CHECK(times.at("Wait Time Ratio") == 0.2727);
  CHECK(times.at("Synchronization Time Ratio") == 0.2);
  const Json& bands = item.at("Communication Bandwidth Info");
  CHECK(bands.at("RDMA").dump() ==
        R"x({"Transit Size(MB)":0.6,"Transit Time(ms)":0.003,"Bandwidth(GB/s)":200.0,)x"
        R"x("Large Packet Ratio":1.0,"Size Distribution":{"0.6":[1,0.003]}})x");
  CHECK(bands.at("HCCS").at("Size Distribution").dump() == R"x({"6.4e-05":[1,0.001]})x");
  CHECK(bands.at("PCIE").at("Large Packet Ratio") == 1.0);
  CHECK(bands.at("SDMA").dump() ==
        R"x({"Transit Size(MB)":40.000064,"Transit Time(ms)":0.003,"Bandwidth(GB/s)":13333.3547,)x"
        R"x("Large Packet Ratio":0.0,"Size Distribution":{}})x");
  const Json links = run.json("communication_matrix.json").at(kKey);
  CHECK(links.at("0-0").dump() ==
        R"x({"Transport Type":"LOCAL","Transit Size(MB)":2.0,"Transit Time(ms)":0.0005,)x"
        R"x("Bandwidth(GB/s)":4000.0})x");
  CHECK(links.at("0-1").dump() ==
        R"x({"Transport Type":"PCIE","Transit Size(MB)":40.600064,"Transit Time(ms)":0.006,)x"
        R"x("Bandwidth(GB/s)":6766.6773})x");
  const fs::path db = run.analysis("communication_analyzer.db");
  CHECK(query(db, "SELECT DISTINCT hccl_op_name, group_name FROM CommAnalyzerTime") ==
        Lines{"hcom_allReduce__101_026_0_1|12345678900000026"});
  CHECK(query(db,
              "SELECT package_size, count, total_duration FROM CommAnalyzerBandwidth"
              " WHERE transport_type = 'SDMA'") == Lines{"0|0|0"});

  // The timeline has the same rate for both payloads.
  std::map<std::string, double> rates;
  const TimelineFile timeline = export_timeline(run);
  for (const Json& event : timeline.events()) {
    if (event.value("name", "") == "RDMASend")
      rates[event.at("args").at("task id").dump()] = event.at("args").at("bandwidth(GB/s)");
  }
  CHECK(rates ==
        std::map<std::string, double>{{"3", 200}, {"4", 200}, {"5", 0.04}, {"7", 0.04}, {"11", 2}});
}

TEST_CASE("a rule writes only its file, type db only the database, and no collectives no file") {
  AnalysisRun run;
  run.play("hcom_allReduce__101", {step("Memcpy", 0, 10'000, 11'000, 64)}, 1000);
  run.products();
  const auto tables = [&] {
    return query(run.analysis("communication_analyzer.db"),
                 "SELECT name FROM sqlite_master ORDER BY 1");
  };
  CHECK(analyse(run.prof.folder(), {"--rule=communication"}).exit_code == 0);
  CHECK(names_in(run.prof.folder() / "analyze") ==
        Lines{"communication.json", "communication_analyzer.db"});
  CHECK(tables() == Lines{"CommAnalyzerBandwidth", "CommAnalyzerTime"});
  fs::remove_all(run.prof.folder() / "analyze");
  const RunResult result =
      analyse(run.prof.folder(), {"--rule=communication_matrix", "--type=db", "--clear=on"});
  CHECK(result.exit_code == 0);
  CHECK_FALSE(contains(result.out, "\"data\""));
  CHECK(names_in(run.prof.folder() / "analyze") == Lines{"communication_analyzer.db"});
  CHECK(tables() == Lines{"CommAnalyzerMatrix"});
  CHECK_FALSE(fs::exists(run.prof.store()));
  CHECK(analyse(run.prof.folder(), {"--rule=steps"}).exit_code == 2);

  ProfCapture without;
  without.scene.launch({"add", "Add", Core::aiv}, {kThread, 100, 900}, device_task(1, 8000, 9000));
  without.products();
  CHECK(analyse(without.prof.folder()).exit_code == 0);
  CHECK_FALSE(fs::exists(without.prof.folder() / "analyze"));
}

TEST_CASE("a collective of two devices of a capture has an entry for each") {
  ProfSetup setup;
  setup.devices = {0, 1};
  AnalysisRun run(setup);
  CommStep second = step("Memcpy", 1, 14'000, 17'000, 64);
  second.device.device = 1;
  run.play("hcom_allReduce__101", {step("Memcpy", 0, 10'000, 11'000, 64)}, 1000);
  run.play("hcom_allReduce__101", {second}, 5000);
  run.products();
  REQUIRE(analyse(run.prof.folder()).exit_code == 0);
  const Json all = run.json("communication.json");
  const auto elapse = [&](const std::string& key) {
    return all.at(key).at("Communication Time Info").at("Elapse Time(ms)").get<double>();
  };
  CHECK(elapse(kKey) == 0.001);
  CHECK(elapse("hcom_allReduce__101_026_0_1_device1@12345678900000026") == 0.003);
  CHECK(elapse("Total HCCL Operators") == 0.004);
  CHECK(all.size() == 3);
}
