// The record kinds from which tasks are made, and join_devices(): imports files and checks the
// rows.
#include <algorithm>
#include <catch2/catch.hpp>

#include "import/cann_kind_run.hpp"
#include "import/importer.hpp"
#include "support/files.hpp"
#include "support/prof/prof_folder.hpp"

using namespace msprof;
using namespace msprof::test;
using prof::AcsqLog;
using prof::FftsLog;
using prof::HwtsLog;
using prof::ProfFolder;
using prof::ProfSetup;
using prof::TsTaskType;

namespace {

// A folder and the result of a whole import of it.
class Capture {
 public:
  explicit Capture(const ProfSetup& setup = {}) : folder(temp_.path(), setup) {}

  void import() {
    folder.finish();
    const CannSession session(folder.folder());
    report = import_session(session, temp_ / "msprof.db", {});
    store_ = TraceDb::open(temp_ / "msprof.db");
  }

  // Rows as "a|b|NULL".
  Texts rows(const std::vector<std::string>& columns, const std::string& rest) {
    std::string list;
    for (const std::string& column : columns)
      list += (list.empty() ? "" : " || '|' || ") + ("ifnull(" + column + ", 'NULL')");
    Texts result;
    Statement read = store_->prepare("SELECT " + list + " FROM " + rest);
    while (read.step()) result.emplace_back(read.text(0));
    return result;
  }
  Texts tasks() {
    return rows({"stream_id", "task_number", "context", "start_ns - " + std::to_string(kBegin),
                 "duration_ns", "text"},
                "task LEFT JOIN name ON name.id = device_type_name_id ORDER BY task.id");
  }
  // Count of a finding, 0 if there is none; negative if it makes the data partial.
  std::int64_t found(std::string_view kind, std::string_view reason) const {
    for (const Finding& finding : report.findings()) {
      if (finding.kind == kind && finding.reason == reason)
        return finding.severity() == Severity::partial ? -finding.count : finding.count;
    }
    return 0;
  }
  std::uint64_t at(std::uint64_t ns) const { return folder.setup().ticks_at(ns); }

  void acsq(std::uint16_t stream, std::uint16_t task, std::uint64_t start_ns, std::uint64_t end_ns,
            std::uint8_t type = 2) {
    for (const bool is_end : {false, true}) {
      folder.device(0, AcsqLog{.is_end = is_end,
                               .sqe_type = type,
                               .count = count++,
                               .stream = stream,
                               .task = task,
                               .time = at(is_end ? end_ns : start_ns)});
    }
  }
  void hwts(std::uint16_t stream, std::uint16_t task, std::uint64_t start_ns, std::uint64_t end_ns,
            std::uint8_t type) {
    for (const bool is_end : {false, true}) {
      folder.device(0, HwtsLog{.is_end = is_end,
                               .sqe_type = type,
                               .count = count++,
                               .stream = stream,
                               .task = task,
                               .time = at(is_end ? end_ns : start_ns)});
    }
  }
  void state(std::uint16_t task, std::uint64_t ns, std::uint8_t state, std::uint16_t type = 1) {
    folder.device(
        0,
        TsTaskType{.time = at(ns), .stream = 1, .task = task, .task_type = type, .state = state});
  }
  std::filesystem::path slice(std::string_view stem) const {
    return device_slice(folder.folder(), 0, stem);
  }

 private:
  TempFolder temp_;

 public:
  ProfFolder folder;
  ImportReport report;
  std::uint8_t count = 0;

 private:
  std::optional<TraceDb> store_;
};

ProfSetup setup_310() {
  ProfSetup setup = prof::setup_910a();
  setup.platform = "0";
  return setup;
}

}  // namespace

TEST_CASE("STARS logs are tasks named by their types; unknown types have no name") {
  Capture capture;
  capture.acsq(1, 0, 1000, 2000, 0);
  capture.acsq(1, 1, 3000, 4000, 20);
  capture.acsq(1, 2, 5000, 6000, 63);
  for (const bool is_end : {false, true}) {
    capture.folder.device(0, FftsLog{.is_end = is_end,
                                     .count = capture.count++,
                                     .stream = 1,
                                     .task = 0,
                                     .time = capture.at(is_end ? 1800 : 1200),
                                     .subtask_type = 6,
                                     .context = 5});
  }
  capture.import();
  CHECK(capture.tasks() == Texts{"1|0|NULL|1000|1000|AI_CORE", "1|0|5|1200|600|MIX_AIC",
                                 "1|1|NULL|3000|1000|C_CORE_SQE", "1|2|NULL|5000|1000|NULL"});
  CHECK(capture.found("tasks", "task type without a name") == 1);
  CHECK(capture.rows({"first_task_id", "last_task_id", "device_id"}, "task_run") == Texts{"1|4|0"});
  CHECK_FALSE(capture.report.is_partial());
}

TEST_CASE("STARS ids with flag bits are decoded") {
  Capture capture;
  capture.acsq(0x1003, 7, 1000, 2000);       // bits 13 to 15 belong to the task
  capture.acsq(0x2005, 0x3009, 3000, 4000);  // stream and task are swapped
  capture.import();
  CHECK(capture.tasks() == Texts{"3|7|NULL|1000|1000|AIV_SQE", "9|12293|NULL|3000|1000|AIV_SQE"});
}

TEST_CASE("a STARS record with a bad magic is skipped, the others are read") {
  Capture capture;
  for (std::uint16_t task = 0; task < 20; ++task)
    capture.acsq(1, task, task * 100U, task * 100U + 50);
  capture.folder.finish();
  overwrite(capture.slice(AcsqLog::kStem), 4 * 64 + 2, "\x01\x02");
  capture.import();
  CHECK(capture.tasks().size() == 19);
  CHECK(capture.found("stars_soc", "bad magic") == -1);
  CHECK(capture.found("tasks", "end without start") == 1);
}

TEST_CASE("STARS records of other functions are counted, unknown ones skipped") {
  Capture capture;
  capture.acsq(1, 0, 1000, 2000);
  for (const char function : {'\x16', '\x3F'}) {
    std::string record = bytes(AcsqLog{.count = 0, .time = 5});
    record[0] = function;
    capture.folder.device(0, AcsqLog::kStem, record);
  }
  capture.import();
  CHECK(capture.found("stars_soc", "records of function type 22, not read") == 1);
  CHECK(capture.found("stars_soc", "unknown function type") == -1);
  CHECK(capture.tasks().size() == 1);
}

TEST_CASE("gaps of the rolling counter are lost records") {
  Capture capture;
  capture.acsq(1, 0, 1000, 2000);
  capture.count = static_cast<std::uint8_t>(capture.count + 3);
  capture.acsq(1, 1, 3000, 4000);
  capture.import();
  CHECK(capture.found("stars_soc", "records missing according to their sequence counter") == -3);
}

TEST_CASE("every type of hwts.data is read on 910A, with counters in order") {
  Capture capture(prof::setup_910a());
  capture.hwts(1, 0, 1000, 2000, 0);
  capture.hwts(1, 1, 1000, 2000, 1);
  capture.hwts(2, 0, 3000, 4000, 0);
  capture.hwts(1, 2, 5000, 6000, 5);
  capture.hwts(1, 0, 7000, 8000, 0);
  for (const auto& [stream, task, cycles] :
       {std::tuple{2, 0, 30}, std::tuple{1, 0, 10}, std::tuple{1, 0, 50}}) {
    capture.folder.device(0, prof::CorePmu{.stream = static_cast<std::uint16_t>(stream),
                                           .task = static_cast<std::uint16_t>(task),
                                           .cycles = static_cast<std::uint64_t>(cycles),
                                           .counters = {1, 2, 3, 4, 5, 6, 7, 8}});
  }
  capture.import();
  CHECK(capture.tasks() == Texts{"1|0|NULL|1000|1000|AI_CORE", "1|1|NULL|1000|1000|AI_CPU",
                                 "2|0|NULL|3000|1000|AI_CORE", "1|2|NULL|5000|1000|EVENT_WAIT_SQE",
                                 "1|0|NULL|7000|1000|AI_CORE"});
  CHECK(capture.rows({"task_id", "c1", "c9", "c10", "c19"}, "task_pmu ORDER BY task_id") ==
        Texts{"1|10|8|0|0", "3|30|8|0|0", "5|50|8|0|0"});
}

TEST_CASE("310P has counters of vector cores in a separate file") {
  Capture capture(prof::setup_310p());
  capture.hwts(1, 0, 1000, 2000, 2);
  capture.hwts(1, 1, 3000, 4000, 0);
  const prof::CorePmu vector{.stream = 1, .task = 0, .cycles = 70, .counters = {1}};
  capture.folder.device(0, prof::CorePmu::kVectorStem, bytes(vector));
  capture.folder.device(0, prof::CorePmu{.stream = 1, .task = 1, .cycles = 80, .counters = {2}});
  capture.folder.device(0, prof::CorePmu{.stream = 1, .task = 9, .cycles = 90, .counters = {3}});
  capture.import();
  CHECK(capture.rows({"task_id", "c1", "c10", "c11", "c19"}, "task_pmu ORDER BY task_id") ==
        Texts{"1|0|70|1|1", "2|80|0|0|0"});
  CHECK(capture.found("tasks", "counters without a task") == 1);
}

TEST_CASE("hwts records without a magic are found again after lost bytes") {
  Capture capture(prof::setup_910a());
  for (std::uint16_t task = 0; task < 50; ++task)
    capture.hwts(1, task, 1000U + task * 100U, 1050U + task * 100U, 0);
  capture.folder.finish();
  std::string file = read_file(capture.slice(HwtsLog::kStem));
  for (std::size_t record = 0; record < 100; ++record)
    file[64 * record + 2] = file[64 * record + 3] = '\0';
  file.erase(64 * 40 + 10, 3);
  write_file(capture.slice(HwtsLog::kStem), file);
  capture.import();
  CHECK(capture.tasks().size() == 49);
  CHECK(capture.report.is_partial());
}

TEST_CASE("AI CPU tasks of 910A are read from the task scheduler if hwts has none") {
  Capture capture(prof::setup_910a());
  capture.hwts(1, 0, 1000, 2000, 0);
  capture.hwts(1, 1, 3000, 4000, 1);
  for (const auto& [task, start] : {std::pair{1, 2900}, std::pair{2, 5000}}) {
    const auto number = static_cast<std::uint16_t>(task);
    const auto ns = static_cast<std::uint64_t>(start);
    capture.state(number, ns - 100, 0);
    capture.state(number, ns, 1);
    capture.state(number, ns + 1200, 2);
  }
  capture.state(3, 9000, 1, 0);  // not an AI CPU task
  capture.state(3, 9100, 2, 0);
  capture.state(4, 9000, 2);
  capture.import();
  CHECK(capture.tasks() == Texts{"1|0|NULL|1000|1000|AI_CORE", "1|1|NULL|3000|1000|AI_CPU",
                                 "1|2|NULL|5000|1200|AI_CPU"});
  CHECK(capture.found("tasks", "state without its counterpart") == 1);
}

TEST_CASE("on 310P, launched but unrecorded tasks are read from the task scheduler") {
  Capture capture(prof::setup_310p());
  capture.hwts(1, 0, 1000, 2000, 0);
  for (std::uint16_t task = 0; task < 3; ++task) {
    capture.state(task, 900U + task * 1000U, 0);
    capture.state(task, 1900U + task * 1000U, 2);
  }
  for (std::uint16_t task = 0; task < 2; ++task) {
    capture.folder.host(prof::TaskTrack{.thread = 7,
                                        .time = capture.folder.setup().host_at(500U + task),
                                        .stream = 1,
                                        .task = task,
                                        .task_type = 2});
  }
  capture.folder.set_type(5000, 2, "EVENT_RECORD");
  capture.import();
  CHECK(capture.tasks() == Texts{"1|0|NULL|1000|1000|AI_CORE", "1|1|NULL|1900|1000|NULL"});
}

TEST_CASE("tasks of a 310 are read from the time line, counters from event counts") {
  Capture capture(setup_310());
  const auto line = [&](std::uint16_t task, std::uint16_t state, std::uint64_t ns) {
    capture.folder.device(
        0, prof::TimeLine{
               .task_type = 0, .state = state, .stream = 1, .task = task, .time = capture.at(ns)});
  };
  line(4, 1, 900);
  line(4, 2, 1000);
  line(4, 3, 2000);
  line(4, 2, 3000);
  line(4, 3, 3500);
  line(5, 3, 4000);
  std::string event_count(112, '\0');
  event_count[1] = 4;
  event_count[2] = 112;
  event_count[10] = 1;
  event_count[12] = 4;
  event_count[24] = 11;
  event_count[88] = 99;
  capture.folder.device(0, "aicore.data", event_count);
  capture.import();
  CHECK(capture.tasks() ==
        Texts{"1|4|NULL|1000|1000|kernel AI core task", "1|4|NULL|3000|500|kernel AI core task"});
  CHECK(capture.rows({"task_id", "c1", "c2"}, "task_pmu") == Texts{"1|99|11"});
  CHECK(capture.found("tasks", "state without its counterpart") == 1);
}

TEST_CASE("950: tasks are matched by their ids only, in any order and on any stream") {
  ProfSetup setup = prof::setup_950();
  Capture capture(setup);
  const std::vector<std::uint32_t> ids = {0x0001FFFF, 0x00020000, 0x00010000, 0xFFFFFFFE};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    capture.folder.host(prof::TaskTrack{.thread = 7,
                                        .time = capture.folder.setup().host_at(500U + 10 * i),
                                        .stream = static_cast<std::uint16_t>(3 + i),
                                        .task = static_cast<std::uint16_t>(ids[i] & 0xFFFFU),
                                        .batch = static_cast<std::uint16_t>(ids[i] >> 16U),
                                        .task_type = 2});
  }
  // The device runs them in reverse order; the very last one starts at the same time as another.
  const auto task = [&](std::uint32_t id, std::uint64_t start, std::uint64_t end) {
    for (const bool is_end : {false, true})
      capture.folder.device(0, prof::LogV6{.is_end = is_end,
                                           .sqe_type = 1,
                                           .count = capture.count++,
                                           .task = id,
                                           .time = capture.at(is_end ? end : start)});
  };
  task(ids[3], 1000, 1800);
  task(ids[2], 2000, 2800);
  task(ids[1], 3000, 3800);
  task(ids[0], 3000, 3600);
  task(0x12345678, 4000, 4800);
  capture.import();
  CHECK(capture.tasks() == Texts{"6|4294967294|NULL|1000|800|AIV_SQE",
                                 "5|65536|NULL|2000|800|AIV_SQE", "3|131071|NULL|3000|600|AIV_SQE",
                                 "4|131072|NULL|3000|800|AIV_SQE",
                                 "65535|305419896|NULL|4000|800|AIV_SQE"});
  CHECK(capture.rows({"count(*)"}, "task WHERE host_type_name_id IS NOT NULL") == Texts{"4"});
  CHECK(capture.found("tasks", "launched, but not recorded on the device") == 0);
}

TEST_CASE("950: a record has ten counters of its kind of core") {
  ProfSetup setup = prof::setup_950();
  setup.aic_events = setup.aiv_events = "0x1,0x2,0x3,0x4,0x5,0x6,0x7,0x8,0x9,0xa,0xb";
  Capture capture(setup);
  for (std::uint32_t id = 1; id <= 2; ++id) {
    const std::uint64_t ns = 1000 * id;
    for (const bool is_end : {false, true})
      capture.folder.device(0, prof::LogV6{.is_end = is_end,
                                           .count = capture.count++,
                                           .task = id,
                                           .time = capture.at(is_end ? ns + 800 : ns)});
    capture.folder.device(0, prof::PmuV6{.count = static_cast<std::uint8_t>(id - 1),
                                         .task = id,
                                         .is_aiv = id == 2,
                                         .has_overflow = id == 2,
                                         .cycles = 100 * id,
                                         .counters = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                                         .start = capture.at(ns),
                                         .end = capture.at(ns + 700)});
  }
  capture.import();
  CHECK(capture.rows({"c1", "c2", "c9", "c20", "c21", "c10", "c11", "c18", "c22", "c23", "c19"},
                     "task_pmu ORDER BY task_id") ==
        Texts{"100|1|8|9|10|0|0|0|0|0|0", "0|0|0|0|0|200|1|8|9|10|1"});
  CHECK(capture.rows({"text"},
                     "pmu_column JOIN name ON name.id = counter_name_id"
                     " WHERE column_number >= 20 ORDER BY column_number") ==
        Texts{"aic_0x9", "aic_0xa", "aiv_0x9", "aiv_0xa", "aic_time_ns", "aiv_time_ns"});
  CHECK(capture.found("ffts_profile", "counters overflowed") == 1);
}

TEST_CASE("only a 910B has stream ids of 15 bits") {
  for (const std::string platform : {"5", "7"}) {
    ProfSetup setup;
    setup.platform = platform;
    Capture capture(setup);
    capture.folder.host(prof::ExpandStream{capture.folder.setup().host_at(100), 1});
    capture.acsq(3000, 4, 1000, 2000);
    capture.import();
    INFO(platform);
    CHECK(capture.tasks().front().starts_with(platform == "5" ? "3000|" : "952|"));
    CHECK(capture.found("expand_stream_spec", "stream ids of 15 bits, not read") ==
          (platform == "5" ? 0 : 1));
  }
}

TEST_CASE("counters of a kernel that overflowed are kept") {
  Capture capture;
  capture.acsq(1, 0, 1000, 2000);
  std::string pmu = bytes(prof::ContextPmu{.stream = 1,
                                           .task = 0,
                                           .subtask_type = 1,
                                           .ffts_type = 1,
                                           .cycles = 5,
                                           .start = capture.at(1000),
                                           .end = capture.at(1900)});
  pmu[17] = 4;
  capture.folder.device(0, prof::ContextPmu::kStem, pmu);
  capture.import();
  CHECK(capture.found("ffts_profile", "counters overflowed") == 1);
  CHECK(capture.rows({"task_id", "c0", "c10", "c19"}, "task_pmu") == Texts{"1|1000|5|1"});
  const Texts columns = capture.rows(
      {"text"}, "pmu_column JOIN name ON name.id = counter_name_id ORDER BY column_number");
  CHECK(columns.size() == 20);
  CHECK(columns[0] == "frequency_mhz");
  CHECK(columns[2] == "aic_0x416");
  CHECK(columns[11] == "aiv_0x8");
  CHECK(columns[19] == "core_kind");
}

TEST_CASE("sampled counters are not task counters") {
  Capture capture;
  capture.acsq(1, 0, 1000, 2000);
  capture.folder.device(0, prof::ContextPmu{.stream = 1});
  capture.folder.finish();
  const auto sample = capture.folder.folder() / "device_0" / "sample.json";
  std::string text = read_file(sample);
  text.replace(text.find("task-based"), 10, "sample-based");
  write_file(sample, text);
  const CannSession session(capture.folder.folder());
  const TempFolder temp;
  const ImportReport report = import_session(session, temp / "msprof.db", {});
  CHECK(report.kinds().count("ffts_profile") == 0);
  CHECK(report.kinds().at("core_samples").files == 1);
}

TEST_CASE("records of unsupported chips are reported, and the data is partial") {
  ProfSetup setup;
  setup.platform = "9";
  Capture capture(setup);
  capture.acsq(1, 0, 1000, 2000);
  capture.import();
  CHECK(capture.found("stars_soc", "present, not read") == -1);
  CHECK(capture.tasks().empty());
}

TEST_CASE("without the clock of a device, no task is read, and the data is partial") {
  Capture capture;
  capture.acsq(1, 0, 1000, 2000);
  capture.folder.finish();
  std::filesystem::remove(capture.folder.folder() / "device_0" / "dev_start.log.0");
  const CannSession session(capture.folder.folder());
  const TempFolder temp;
  const ImportReport report = import_session(session, temp / "msprof.db", {});
  CHECK(report.is_partial());
  CHECK(std::any_of(report.findings().begin(), report.findings().end(), [](const Finding& finding) {
    return finding.kind == "tasks" && finding.id == FindingId::no_tasks;
  }));
}
