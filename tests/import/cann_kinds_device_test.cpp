#include <catch2/catch.hpp>

#include "import/cann/counters/lpm_freq.hpp"
#include "import/cann_kind_run.hpp"
#include "support/files.hpp"
#include "support/prof/prof_folder.hpp"
#include "wire/cann/device_wire.hpp"

using namespace msprof;
using namespace msprof::cann;
using namespace msprof::test;
using prof::ProfFolder;
using prof::ProfSetup;
using prof::StepTrace;

namespace {

const std::vector<KindRun::Maker> kTs{make_ts_track_kind};
const std::vector<KindRun::Maker> kFreq{make_lpm_freq_kind};

Texts points(KindRun& run) {
  return run.rows("device_id, time_ns, value",
                  "counter c JOIN track t ON t.id = track_id ORDER BY c.id");
}

}  // namespace

TEST_CASE("stream and task ids of STARS chips are decoded") {
  const auto ids = [](unsigned stream, unsigned task, unsigned type, bool expanded) {
    const StarsIds id = stars_ids(static_cast<std::uint16_t>(stream),
                                  static_cast<std::uint16_t>(task), type, expanded);
    return std::pair<int, int>(id.stream, id.task_number);
  };
  using Pair = std::pair<int, int>;
  CHECK(ids(5, 0xFFFF, 0, false) == Pair{5, 0xFFFF});
  CHECK(ids(0x0805, 7, 0, false) == Pair{5, 7});
  CHECK(ids(0xF005, 0x2001, 0, false) == Pair{5, 0xE001});
  CHECK(ids(0x2123, 0xF005, 0, false) == Pair{5, 0xF123});
  CHECK(ids(0x1805, 1, 0, true) == Pair{0x1805, 1});
  CHECK(ids(0x8123, 0x8005, 0, true) == Pair{5, 0x8123});
  CHECK(ids(0x8123, 0x8005, 3, true) == Pair{0x123, 0x8005});
  CHECK(ids(0x8123, 0x8005, 4, true) == Pair{0x123, 0x8005});
}

TEST_CASE("step marks have their times, and stream ids without the bits above the eleventh") {
  const TempFolder temp;
  ProfSetup setup;
  setup.devices = {0, 3};
  ProfFolder folder(temp.path(), setup);
  folder.device(0, StepTrace{.time = setup.ticks_at(1000),
                             .index = 4,
                             .model = 0xFFFFFFFF,
                             .stream = 0xF802,
                             .task = 60000,
                             .tag = 2});
  folder.device(3, StepTrace{.time = setup.ticks_at(2020), .index = 1, .model = 1, .tag = 4});
  folder.device(3, StepTrace{.time = 0, .index = 1, .model = 1, .tag = 1});
  folder.finish();
  KindRun run(folder.folder(), kTs);
  CHECK(
      run.rows("id, device_id, index_id, model_number, ticks, time_ns, tag, stream_id, task_number",
               "step_mark ORDER BY id") ==
      Texts{"1|0|4|4294967295|250000050|" + ns(1000) + "|2|2|60000",
            "2|3|1|1|250000101|" + ns(2020) + "|4|0|0"});
  CHECK(run.findings() == Texts{"PARTIAL ts_track: timestamp 0 x1"});
}

TEST_CASE("step trace records of chips 15 and 16 have a different end") {
  const TempFolder temp;
  ProfSetup setup;
  setup.platform = "15";
  ProfFolder folder(temp.path(), setup);
  // These chips have tag, stream and 32-bit task id where others have stream, task, tag, reserved.
  folder.device(
      0, StepTrace{.time = 9, .index = 1, .model = 1, .stream = 3, .task = 0x9001, .tag = 0x5678});
  folder.finish();
  overwrite(device_slice(folder.folder(), 0, StepTrace::kStem), 38,
            std::string_view("\x34\x12", 2));
  KindRun run(folder.folder(), kTs);
  CHECK(run.rows("tag, stream_id, task_number", "step_mark") ==
        Texts{"3|" + std::to_string(0x9001) + "|" + std::to_string(0x12345678)});
}

TEST_CASE("flips, blocks and states of tasks are assigned to their device") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  folder.device(0, prof::TsFlip{.time = 1, .stream = 0x8803, .number = 65535, .task = 5});
  folder.device(
      0, prof::TsBlocks{.time = 2, .stream = 0x8803, .task = 6, .blocks = 20, .mix_ratio = 2});
  folder.device(
      0, prof::TsTaskType{.time = 3, .stream = 0x8803, .task = 7, .task_type = 1, .state = 2});
  folder.device(0, prof::TsMemcpy{.time = 4});
  folder.device(0, prof::TsMemcpy{.time = 5});
  folder.finish();
  KindRun run(folder.folder(), kTs);
  const TsTrackRecords& records = run.import().devices.at(0).ts_track;
  REQUIRE((records.flips.size() == 1 && records.blocks.size() == 1 && records.states.size() == 1));
  CHECK(records.flips[0].stream == 3);
  CHECK(records.flips[0].flip_number == 65535);
  CHECK(records.flips[0].task_number == 5);
  CHECK(records.blocks[0].stream == 0x8803);
  CHECK(records.blocks[0].block_num == 20);
  CHECK(records.blocks[0].mix_ratio == 2);
  CHECK(records.states[0].stream == 3);
  CHECK(records.states[0].task_type == 1);
  CHECK(records.states[0].state == 2);
  CHECK(records.states[0].ticks == 3);
  CHECK(run.findings() == Texts{"without ts_track: memcpy records present, not read x2"});
}

TEST_CASE("unknown tags and lost bytes of ts_track lose only the damaged records") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  // Index ids that look like tags must not be mistaken for records.
  for (std::uint64_t i = 1; i <= 20; ++i) {
    folder.device(0, StepTrace{.time = 100 + i, .index = 12, .model = 11, .stream = 10, .tag = 4});
  }
  folder.finish();
  const auto slice = device_slice(folder.folder(), 0, StepTrace::kStem);
  for (const std::size_t record : {4u, 5u, 6u, 7u}) overwrite(slice, record * 40 + 1, "\x63");
  {
    KindRun run(folder.folder(), kTs);
    CHECK(run.rows("count(*), sum(ticks)", "step_mark") ==
          Texts{"16|" + std::to_string(20 * 100 + 210 - 4 * 100 - (5 + 6 + 7 + 8))});
    CHECK(run.findings() == Texts{"PARTIAL ts_track: unknown tag x4"});
  }
  const std::string bytes = read_file(slice);
  write_file(slice, bytes.substr(0, 410) + bytes.substr(413));
  {
    KindRun run(folder.folder(), kTs);
    CHECK(run.rows("count(*), max(ticks)", "step_mark") == Texts{"15|120"});
  }
  // A ring buffer that starts within a record.
  write_file(slice, bytes.substr(bytes.size() - 90));
  {
    KindRun run(folder.folder(), kTs);
    CHECK(run.rows("ticks", "step_mark ORDER BY id") == Texts{"119", "120"});
    CHECK(run.findings().size() == 1);
  }
  write_file(slice, "");
  CHECK(KindRun(folder.folder(), kTs).rows("ticks", "step_mark").empty());
}

TEST_CASE("records can continue in the next slice of ts_track") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  for (std::uint64_t i = 1; i <= 4; ++i) folder.device(0, StepTrace{.time = i, .tag = 4});
  folder.finish();
  const std::string bytes = read_file(device_slice(folder.folder(), 0, StepTrace::kStem));
  write_file(device_slice(folder.folder(), 0, StepTrace::kStem), bytes.substr(0, 50));
  write_file(device_slice(folder.folder(), 0, StepTrace::kStem, 1), bytes.substr(50));
  KindRun run(folder.folder(), kTs);
  CHECK(run.rows("ticks", "step_mark ORDER BY id") == Texts{"1", "2", "3", "4"});
  CHECK(run.findings().empty());
}

TEST_CASE("device marks of the application with equal ids are one range before 9.1") {
  const TempFolder temp;
  ProfSetup setup;
  const bool tags_tell = GENERATE(false, true);
  setup.cann = tags_tell ? "9.1.0" : "9.0.9";
  ProfFolder folder(temp.path(), setup);
  const auto mark = [&](std::uint64_t after, std::uint64_t id, std::uint16_t tag) {
    folder.device(0, StepTrace{.time = setup.ticks_at(after),
                               .index = id,
                               .model = 5,
                               .stream = 6,
                               .task = 7,
                               .tag = tag});
  };
  mark(3000, 2, 12);
  mark(1000, 1, 11);
  mark(2000, 2, 12);
  mark(5000, 3, 11);
  mark(6000, 3, 11);
  mark(7000, 4, 12);
  folder.finish();
  KindRun run(folder.folder(), kTs);
  const auto rows = run.rows(
      "mark_id, start_ns - 1700000000000000000, end_ns - start_ns,"
      "vendor_start_ns - start_ns, stream_id, task_number, model_number",
      "device_mark ORDER BY id");
  if (tags_tell) {
    CHECK(rows ==
          Texts{"1|1000|0|0|6|7|5", "2|2000|1000|0|6|7|5", "3|5000|0|0|6|7|5", "3|6000|0|0|6|7|5"});
    CHECK(run.findings() ==
          Texts{"without ts_track: range of the application without its start or end x1"});
  } else {
    CHECK(rows == Texts{"1|1000|0|0|6|7|5", "2|2000|1000|0|6|7|5", "3|5000|1000|0|6|7|5",
                        "4|7000|0|0|6|7|5"});
    CHECK(run.findings().empty());
  }
  CHECK(run.rows("count(*)", "step_mark") == Texts{"6"});
}

TEST_CASE("records of chip 310 contain their own length, across slices") {
  const TempFolder temp;
  ProfSetup setup;
  setup.platform = "0";
  ProfFolder folder(temp.path(), setup);
  folder.device(
      0, prof::TimeLine{.task_type = 1, .state = 2, .stream = 0x0803, .task = 4, .time = 77});
  folder.device(0, StepTrace{.time = 88, .index = 1, .model = 1, .tag = 2});
  folder.device(0, prof::TimeLine{.state = 3, .time = 99});
  folder.finish();
  const auto slice = device_slice(folder.folder(), 0, StepTrace::kStem);
  const std::string bytes = read_file(slice);
  REQUIRE(bytes.size() == 104);
  write_file(slice, bytes.substr(0, 34));
  write_file(device_slice(folder.folder(), 0, StepTrace::kStem, 1), bytes.substr(34));
  {
    KindRun run(folder.folder(), kTs);
    const auto& states = run.import().devices.at(0).ts_track.states;
    REQUIRE(states.size() == 2);
    CHECK((states[0].ticks == 77 && states[0].stream == 3 && states[0].task_number == 4));
    CHECK((states[0].task_type == 1 && states[0].state == 2 && states[1].state == 3));
    CHECK(run.rows("ticks", "step_mark") == Texts{"88"});
    CHECK(run.findings().empty());
  }
  std::filesystem::remove(device_slice(folder.folder(), 0, StepTrace::kStem, 1));
  const auto import_states = [&](const std::string& content, std::size_t findings) {
    write_file(slice, content);
    KindRun run(folder.folder(), kTs);
    INFO(Catch::Detail::stringify(run.findings()));
    CHECK(run.findings().size() == findings);
    const auto device = run.import().devices.find(0);
    const auto marks = run.rows("ticks", "step_mark").size();
    return (device == run.import().devices.end() ? 0 : device->second.ts_track.states.size()) * 10 +
           marks;
  };
  const std::string usage{
      "\x01\x07\x06\x00"
      "ab",
      6};
  CHECK(import_states(usage + bytes, 1) == 21);                 // a status record, noted
  CHECK(import_states(bytes.substr(0, 100), 1) == 11);          // truncated
  CHECK(import_states("", 0) == 0);                             // empty
  CHECK(import_states(std::string(7, '\0') + bytes, 1) == 21);  // lengths of 0
  std::string broken = bytes;
  broken[34] = '\0';  // a length of 0
  CHECK(import_states(broken, 1) == 20);
  broken[34] = '\x29';  // one byte too many
  CHECK(import_states(broken, 1) == 20);
  broken = bytes;
  broken[33] = '\x50';  // an unknown tag
  CHECK(import_states(broken, 1) == 20);
}

TEST_CASE("frequencies are valid from the start of the device") {
  using List = std::vector<FrequencyChange>;
  CHECK(frequency_list({}, 100, 1650).empty());
  CHECK(frequency_list({{50, 800}, {100, 900}, {200, 1000}}, 100, 1650) ==
        List{{100, 800}, {100, 900}, {200, 1000}});
  CHECK(frequency_list({{300, 900}, {200, 1000}}, 100, 1650) ==
        List{{100, 1650}, {200, 1000}, {300, 900}});
  CHECK(frequency_list({{200, 1000}, {300, 0}}, 100, 1650).empty());
}

TEST_CASE("the track AI Core Freq has the start, every change and the end") {
  const TempFolder temp;
  ProfSetup setup;
  setup.devices = {0, 1};
  ProfFolder folder(temp.path(), setup);
  folder.device(0, prof::LpmFreq{{{setup.device_ticks - 5, 700}, {setup.ticks_at(2000), 800}}});
  folder.device(0, prof::LpmFreq{{{setup.ticks_at(4000), 900}}});
  folder.finish();
  KindRun run(folder.folder(), kFreq);
  // The device starts with the collection, so its first entry is also a point.
  CHECK(points(run) == Texts{"0|" + ns(0) + "|1000", "0|" + ns(0) + "|700",
                             "0|" + ns(2000) + "|800", "0|" + ns(4000) + "|900",
                             "0|" + ns(10'000'000'000) + "|900", "1|" + ns(0) + "|1000",
                             "1|" + ns(10'000'000'000) + "|1000"});
  CHECK(run.import().devices.at(0).frequencies.size() == 3);
  CHECK(run.rows("n.text, u.text",
                 "track JOIN name n ON n.id = name_id JOIN name u ON u.id = unit_name_id") ==
        Texts{"AI Core Freq|MHz", "AI Core Freq|MHz"});
}

TEST_CASE(
    "without an end there is no last point, and only the last change before the start is "
    "used") {
  const TempFolder temp;
  ProfSetup setup;
  setup.end_us = 0;
  setup.begin_us += 3;  // the device starts 3 us earlier
  ProfFolder folder(temp.path(), setup);
  const auto tick = [&](std::uint64_t after) { return setup.ticks_at(after); };
  folder.device(0, prof::LpmFreq{{{tick(20), 700}, {tick(40), 800}}});
  folder.finish();
  KindRun run(folder.folder(), kFreq);
  // Wall time moves with the start of the collection, so both entries are after it.
  CHECK(points(run).size() == 3);
  const ClockMap clock = *run.session().parts().at(1).clock;
  const auto begin = clock.ns(tick(40)) + 1;
  const auto list = run.import().devices.at(0).frequencies;
  const auto late = frequency_points(list, 1000, clock, {begin, std::nullopt});
  REQUIRE(late.size() == 1);
  CHECK(late[0].time_ns == begin);
  CHECK(late[0].value == 800);
}

TEST_CASE("frequencies of lpmInfoConv equal those of lpmFreqConv, and equal points count once") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  const auto tick = [&](std::uint64_t after) { return folder.setup().ticks_at(after); };
  folder.device(0, prof::LpmFreq{{{tick(2000), 800}, {tick(4000), 900}}});
  folder.device(0, prof::LpmInfo{0, {{tick(1000), 700}, {tick(2000), 800}, {tick(4000), 900}}});
  folder.device(0, prof::LpmInfo{1, {{tick(3000), 820}}});
  folder.device(0, prof::LpmInfo{});  // unchanged since the last record
  folder.device(0, prof::LpmInfo{7, {{tick(5000), 1}}});
  folder.finish();
  KindRun run(folder.folder(), kFreq);
  CHECK(run.import().devices.at(0).frequencies ==
        std::vector<FrequencyChange>{{folder.setup().device_ticks, 1000},
                                     {tick(1000), 700},
                                     {tick(2000), 800},
                                     {tick(4000), 900}});
  CHECK(run.rows("n.text, time_ns, value",
                 "counter c JOIN track t ON t.id = track_id JOIN name n ON n.id = t.name_id"
                 " ORDER BY c.id") ==
        Texts{"AI Core Freq|" + ns(0) + "|1000", "AI Core Freq|" + ns(1000) + "|700",
              "AI Core Freq|" + ns(2000) + "|800", "AI Core Freq|" + ns(4000) + "|900",
              "AI Core Freq|" + ns(10'000'000'000) + "|900", "Aicore Voltage|" + ns(3000) + "|820",
              "Aicore Voltage|" + ns(10'000'000'000) + "|820"});
  REQUIRE(run.findings().size() == 1);
  CHECK(run.findings().front().find("records of type 7") != std::string::npos);
}

TEST_CASE("a voltage that was set before the collection is valid at its start") {
  const TempFolder temp;
  ProfSetup setup;
  setup.begin_us += 3;  // the device starts 3 us earlier
  ProfFolder folder(temp.path(), setup);
  const auto tick = [&](std::uint64_t after) { return setup.ticks_at(after); };
  folder.device(0, prof::LpmInfo{2, {{setup.device_ticks - 10, 780}, {tick(9000), 850}}});
  folder.finish();
  KindRun run(folder.folder(), kFreq);
  const auto values = run.rows("n.text, u.text, value",
                               "counter c JOIN track t ON t.id = track_id"
                               " JOIN name n ON n.id = t.name_id"
                               " JOIN name u ON u.id = t.unit_name_id"
                               " WHERE n.text <> 'AI Core Freq' ORDER BY c.id");
  CHECK(values == Texts{"Bus Voltage|mV|780", "Bus Voltage|mV|850", "Bus Voltage|mV|850"});
  CHECK(run.findings().empty());
}

TEST_CASE("too many entries, frequencies of 0 and truncated frequency files are counted") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  const auto tick = [&](std::uint64_t after) { return folder.setup().ticks_at(after); };
  folder.device(0, prof::LpmFreq{{{tick(2000), 800}}});
  folder.device(0, prof::LpmFreq{{{tick(4000), 900}}});
  folder.finish();
  const auto slice = device_slice(folder.folder(), 0, prof::LpmFreq::kStem);
  const std::string bytes = read_file(slice);
  overwrite(slice, 0, std::string_view("\x38\x00\x00\x00", 4));
  {
    KindRun run(folder.folder(), kFreq);
    CHECK(points(run).size() == 3);
    CHECK(run.findings() == Texts{"PARTIAL lpm_freq: more than 55 entries, or invalid entries x1"});
  }
  overwrite(slice, 0, std::string_view("\x01\x00\x00\x00", 4));
  overwrite(slice, 16, std::string_view("\x00\x00\x00\x00", 4));
  {
    KindRun run(folder.folder(), kFreq);
    CHECK(points(run).size() == 2);
    CHECK(run.import().devices.at(0).frequencies.empty());
    CHECK(run.findings() == Texts{"PARTIAL lpm_freq: frequency 0 x1"});
  }
  write_file(slice, bytes.substr(0, 1000));
  {
    KindRun run(folder.folder(), kFreq);
    CHECK(points(run).size() == 3);
    CHECK(run.findings().size() == 1);
  }
  // A ring buffer that starts within a record.
  write_file(slice, bytes.substr(300));
  {
    KindRun run(folder.folder(), kFreq);
    CHECK(points(run) == Texts{"0|" + ns(0) + "|1000", "0|" + ns(4000) + "|900",
                               "0|" + ns(10'000'000'000) + "|900"});
    CHECK(run.findings().size() == 1);
  }
  write_file(slice, "");
  CHECK(points(*std::make_unique<KindRun>(folder.folder(), kFreq)).size() == 2);
}

TEST_CASE("other chips have no frequency track") {
  const TempFolder temp;
  ProfFolder folder(temp.path(), prof::setup_910a());
  folder.finish();
  KindRun run(folder.folder(), kFreq);
  CHECK(run.rows("id", "track").empty());
}

TEST_CASE("devices and the capture are stored") {
  const TempFolder temp;
  ProfSetup setup;
  setup.devices = {2, 7};
  ProfFolder folder(temp.path(), setup);
  folder.finish();
  KindRun run(folder.folder(), {});
  CHECK(
      run.rows(
          "d.id, c.text, frequency_hz, core_count, vector_core_count, vector_frequency_hz,"
          "platform, is_task_based, m.text, v.text, tick_frequency_hz",
          "device d JOIN name c ON c.id = chip_name_id JOIN name m ON m.id = "
          "core_metrics_name_id JOIN name v ON v.id = vector_core_metrics_name_id ORDER BY d.id") ==
      Texts{"2|Ascend910B|1000000000|20|40|1000000000|5|1|PipeUtilizationExct|PipeUtilization|"
            "50000000",
            "7|Ascend910B|1000000000|20|40|1000000000|5|1|PipeUtilizationExct|PipeUtilization|"
            "50000000"});
  CHECK(run.rows("key, value",
                 "meta WHERE key LIKE 'window%' OR key LIKE 'host%' OR key IN "
                 "('chip', 'time_stamp') ORDER BY key") ==
        Texts{"chip|Ascend910B", "host.frequency_hz|100000000",
              "host.hostname|" + run.session().info().host_name, "host.pid|4321",
              "host.pid_name|python3", "host.rank|-1", "host.uid|" + run.session().info().host_uid,
              "time_stamp|20231114221320", "window.begin_ns|" + ns(0),
              "window.end_ns|" + ns(10'000'000'000), "window.has_end|1"});
}

TEST_CASE("an unknown chip has no name") {
  const TempFolder temp;
  ProfSetup setup;
  setup.platform = "99";
  ProfFolder folder(temp.path(), setup);
  folder.finish();
  KindRun run(folder.folder(), {});
  CHECK(run.rows("value", "meta WHERE key = 'chip'") == Texts{""});
  CHECK(run.rows("platform, chip_name_id", "device") == Texts{"99|NULL"});
}
