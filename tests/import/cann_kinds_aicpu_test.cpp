#include <catch2/catch.hpp>

#include "import/cann/aicpu.hpp"
#include "import/cann_kind_run.hpp"
#include "support/files.hpp"
#include "support/prof/prof_folder.hpp"

using namespace msprof;
using namespace msprof::cann;
using namespace msprof::test;
using prof::ProfFolder;
using prof::ProfSetup;

namespace {

const std::vector<KindRun::Maker> kAicpu{make_aicpu_kind};
const std::vector<KindRun::Maker> kOld{make_data_preprocess_kind};
const std::vector<KindRun::Maker> kCache{make_l2_cache_kind};

constexpr std::string_view kStem = prof::AicpuNode::kStem;

prof::AicpuNode node(const ProfSetup& setup, std::uint64_t after, std::uint16_t task) {
  return {.stream = 3,
          .task = task,
          .start = setup.ticks_at(after),
          .end = setup.ticks_at(after + 2000),
          .compute_start_us = 100,
          .memcpy_start_us = 130,
          .memcpy_end_us = 135,
          .submit = setup.ticks_at(after - 1000),
          .after_run = setup.ticks_at(after + 3000),
          .dispatch_us = 15};
}

// "stream task start end compute memcpy dispatch total"
Texts nodes(const KindRun& run, std::int64_t device = 0) {
  Texts result;
  const auto found = run.import().devices.find(device);
  if (found == run.import().devices.end()) return result;
  for (const AicpuNodeRow& row : found->second.aicpu_nodes) {
    std::string text;
    for (const std::int64_t value :
         {row.stream_id, row.task_number, row.start_ns - kBegin, row.end_ns - kBegin,
          row.compute_us, row.memcpy_us, row.dispatch_us, row.total_ns}) {
      text += (text.empty() ? "" : " ") + std::to_string(value);
    }
    result.push_back(text);
  }
  return result;
}

// A record of aicpu.data of another type.
std::string other(std::uint32_t type, std::string_view payload, std::uint64_t timestamp = 0) {
  std::string record = prof::bytes(prof::AicpuNode{});
  std::fill(record.begin() + 24, record.end(), '\0');
  std::memcpy(&record[4], &type, sizeof(type));
  std::memcpy(&record[16], &timestamp, sizeof(timestamp));
  record.replace(24, payload.size(), payload);
  return record;
}

std::string number(std::uint64_t value, std::size_t bytes = 8) {
  std::string text(bytes, '\0');
  std::memcpy(text.data(), &value, bytes);
  return text;
}

std::string padded(std::string text, std::size_t size) {
  text.resize(size, '\0');
  return text;
}

Texts queue(KindRun& run) {
  return run.rows("q.id, s.text, a.text, start_us, end_us, queue_index, queue_size",
                  "data_queue q JOIN name s ON s.id = source_name_id LEFT JOIN name a ON a.id = "
                  "action_name_id ORDER BY q.id");
}

}  // namespace

TEST_CASE("times of an AI CPU node are shown in the usual units") {
  // Clocks and counts of a real capture whose table of AI CPU nodes is known.
  ClockStart start;
  start.count = 484576969200418;
  start.monotonic_ns = 9691377161797070;
  start.frequency_hz = 50'000'000;
  start.begin_monotonic_ns = 9691377159398230;
  start.wall_offset_ns = 1715760307197379000 - start.begin_monotonic_ns;
  const ClockMap clock(start);
  struct Known {
    AicpuNode node;
    std::int64_t shown_start, shown_duration, total;
  };
  const Known known[] = {
      {{484576969308193, 484576969310082, 484576969308283, 484576969308583, 484576969308633, 15,
        484576969308173, 484576969310082},
       1715760307201933372,
       37779,
       38180},
      {{484576969331916, 484576969334353, 484576969332006, 484576969332306, 484576969332356, 15,
        484576969331896, 484576969334353},
       1715760307202407831,
       48740,
       49140},
      {{484576969349293, 484576969351018, 484576969349383, 484576969349683, 484576969349733, 15,
        484576969349273, 484576969351018},
       1715760307202755372,
       34498,
       34900},
  };
  for (const Known& one : known) {
    const AicpuNodeRow row = aicpu_row(one.node, clock);
    CHECK(row.vendor_start_ns == one.shown_start);
    CHECK(row.vendor_duration_ns == one.shown_duration);
    CHECK(row.total_ns == one.total);
    CHECK(row.compute_us == 300);
    CHECK(row.memcpy_us == 50);
    CHECK(row.dispatch_us == 15);
    CHECK(row.end_ns - row.start_ns ==
          static_cast<std::int64_t>(one.node.end_ticks - one.node.start_ticks) * 20);
  }
  CHECK(aicpu_row(known[0].node, std::nullopt).start_ns == kNull);
}

TEST_CASE("nodes of aicpu.data are assigned to their device, those without a time are counted") {
  const TempFolder temp;
  ProfSetup setup;
  setup.devices = {0, 1};
  ProfFolder folder(temp.path(), setup);
  auto mangled = node(setup, 20'000, 0x0001);
  mangled.stream = 0x5003;  // STARS writes bits of the task id here
  auto without_start = node(setup, 30'000, 6);
  without_start.start = 0;
  auto without_end = node(setup, 30'000, 7);
  without_end.end = 0;
  folder.device(1, node(setup, 10'000, 5));
  folder.device(1, mangled);
  folder.device(1, without_start);
  folder.device(1, without_end);
  folder.finish();
  KindRun run(folder.folder(), kAicpu);
  CHECK(nodes(run, 1) == Texts{"3 5 10000 12000 30 5 15 4000", "3 16385 20000 22000 30 5 15 4000"});
  CHECK(nodes(run, 0).empty());
  CHECK(run.import().devices.at(1).aicpu_nodes[0].device_id == 1);
  CHECK(run.findings() == Texts{"PARTIAL aicpu: start or end is 0 x2"});
}

TEST_CASE("expanded streams and other chips have different stream ids") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  auto record = node(folder.setup(), 10'000, 5);
  record.stream = 0x1803;
  folder.device(0, record);
  folder.host(prof::ExpandStream{.status = 1});
  folder.finish();
  KindRun expanded(folder.folder(), {make_expand_stream_spec_kind, make_aicpu_kind});
  CHECK(nodes(expanded).at(0).starts_with("6147 5 "));
  CHECK(nodes(KindRun(folder.folder(), kAicpu)).at(0).starts_with("3 5 "));

  const TempFolder other_temp;
  ProfFolder other_folder(other_temp.path(), prof::setup_910a());
  record.stream = 0xF803;
  other_folder.device(0, record);
  other_folder.finish();
  CHECK(nodes(KindRun(other_folder.folder(), kAicpu)).at(0).starts_with("3 5 "));
}

TEST_CASE("aicpu.data has queues, steps and unknown types") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  folder.device(
      0, kStem,
      other(1, padded("Last queue dequ", 16) + padded("q_0", 64) + number(3) + number(4), 55));
  folder.device(0, kStem,
                other(3, number(1, 4) + number(0, 4) + number(9) + number(70) + number(90)));
  folder.device(0, kStem,
                other(2, number(6) + number(7, 4) + number(2, 2), folder.setup().ticks_at(5000)));
  folder.device(0, kStem, other(4, ""));
  folder.device(0, kStem, other(13, ""));
  folder.device(0, kStem, other(4, ""));
  folder.finish();
  KindRun run(folder.folder(), kAicpu);
  CHECK(queue(run) ==
        Texts{"1|q_0|Last queue dequ|55|NULL|3|4", "2|GetNext_dequeue_wait|NULL|70|90|NULL|9"});
  CHECK(run.rows("index_id, model_number, tag, stream_id, time_ns - 1700000000000000000",
                 "step_mark") == Texts{"6|7|2|0|5000"});
  CHECK(run.findings() == Texts{"without aicpu: records of type 4 present, not read x2",
                                "without aicpu: records of type 13 present, not read x1"});
}

TEST_CASE("a bad magic in aicpu.data loses only its record, a truncated file only the last one") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  for (std::uint16_t task = 1; task <= 4; ++task)
    folder.device(0, node(folder.setup(), 10'000, task));
  folder.finish();
  const auto slice = device_slice(folder.folder(), 0, kStem);
  overwrite(slice, 256, "xx");
  cut(slice, 1023);
  KindRun run(folder.folder(), kAicpu);
  REQUIRE(nodes(run).size() == 2);
  CHECK(nodes(run)[0].starts_with("3 1 "));
  CHECK(nodes(run)[1].starts_with("3 3 "));
  CHECK(run.findings().size() == 2);
  write_file(slice, "");
  CHECK(nodes(KindRun(folder.folder(), kAicpu)).empty());
}

TEST_CASE("nodes of the older file format are the same") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  auto record = node(folder.setup(), 10'000, 5);
  record.stream = 0x0803;
  folder.device(0, prof::OldAicpuNode{record});
  record.start = 0;
  folder.device(0, prof::OldAicpuNode{record});
  folder.device(0, prof::OldAicpuNode{node(folder.setup(), 10'000, 6)});
  folder.finish();
  overwrite(device_slice(folder.folder(), 0, prof::OldAicpuNode::kStem), 2 * 128 + 2, "\x07");
  KindRun run(folder.folder(), kOld);
  CHECK(nodes(run) == Texts{"3 5 10000 12000 30 5 15 4000"});
  CHECK(run.findings().size() == 2);
}

TEST_CASE("every binary slice of the data queue is read") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  folder.device(
      0, prof::DataQueue{.time_us = 5, .index = 1, .size = 2, .action = "dequeue", .source = "a"});
  folder.next_slice(prof::DataQueue::kStem, 0);
  folder.device(
      0, prof::DataQueue{.time_us = 6, .index = 3, .size = 4, .action = "dequeue", .source = "b"});
  folder.finish();
  KindRun run(folder.folder(), kOld);
  CHECK(queue(run) == Texts{"1|a|dequeue|5|NULL|1|2", "2|b|dequeue|6|NULL|3|4"});
  CHECK(run.findings().empty());
}

TEST_CASE("the data queue is read from text with damaged entries") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  folder.finish();
  write_file(device_slice(folder.folder(), 0, prof::DataQueue::kStem),
             std::string("[12] Last queue dequeue, source:q,x, index:3, size:4\n\0"
                         "[13] Last queue dequeue, source:q, index:z, size:4\n\0"
                         "[14] Last queue dequeue, source:r, index:5, size:6",
                         53 + 53 + 50));
  write_file(device_slice(folder.folder(), 0, "DATA_PREPROCESS.AICPUMI"),
             std::string("Node:GetNext, queue size:7, Run start:100, Run end:250\0Node:x\0", 62));
  KindRun run(folder.folder(), kOld);
  CHECK(queue(run) == Texts{"1|GetNext|NULL|100|250|NULL|7", "2|q,x|Last queue dequeue|12|NULL|3|4",
                            "3|r|Last queue dequeue|14|NULL|5|6"});
  CHECK(run.findings() == Texts{"PARTIAL data_preprocess: damaged entry x1",
                                "PARTIAL data_preprocess: damaged entry x1"});
}

TEST_CASE("an unreadable slice does not prevent reading the others") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  for (const char* source : {"a", "b"}) {
    folder.device(0, prof::DataQueue{.time_us = 5, .action = "dequeue", .source = source});
    folder.next_slice(prof::DataQueue::kStem, 0);
  }
  folder.finish();
  KindRun run(folder.folder(), kOld, device_slice(folder.folder(), 0, prof::DataQueue::kStem, 1));
  CHECK(queue(run) == Texts{"1|a|dequeue|5|NULL|0|0"});
}

TEST_CASE("texts that are not queue entries are rejected") {
  for (const char* text :
       {"", "[", "[1]", "[1] a, source:b, index:1", "1 a, source:b, index:1, size:2",
        "[x] a, source:b, index:1, size:2", "[1] a, b, index:1, size:2",
        "[1] a, source:b, index:1, size:-2", "[1] a, source:b, size:1, index:2"}) {
    INFO(text);
    CHECK_FALSE(parse_dequeue(text));
  }
  for (const char* text : {"", "a", "a:b, c:1, d:2", "a:b, c:1, d:2, e", "a:b, c:1, d:2, e:x",
                           "a:b, c:1, d:2, e:3, f:4"}) {
    INFO(text);
    CHECK_FALSE(parse_mind_spore(text));
  }
}

TEST_CASE("steps of a model with a queue are in the step trace as stream 0") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  folder.finish();
  const auto record = [&](std::uint16_t tag) {
    return number(0x5A5A, 2) + number(tag, 2) + number(0, 4) +
           number(folder.setup().ticks_at(4000)) + number(8) + number(9, 4) + number(3, 2) +
           number(0, 2) + number(0) + std::string(24, '\0');
  };
  write_file(device_slice(folder.folder(), 0, "DATA_PREPROCESS.AICPU_MODEL"),
             record(61) + record(62) + record(61));
  KindRun run(folder.folder(), kOld);
  CHECK(run.rows("index_id, model_number, tag, stream_id, time_ns - 1700000000000000000",
                 "step_mark") == Texts{"8|9|3|0|4000", "8|9|3|0|4000"});
  CHECK(run.findings() == Texts{"PARTIAL data_preprocess: unknown tag x1"});
}

TEST_CASE("L2 cache events have one row per task") {
  const TempFolder temp;
  ProfSetup setup;
  setup.l2_events = "0xfb,0xfc,0x90";
  ProfFolder folder(temp.path(), setup);
  folder.device(
      0, prof::L2Cache{.task_type = 1, .stream = 0x9002, .task = 3, .events = {10, 11, 12, 13}});
  folder.device(0, prof::L2Cache{.task = 4, .events = {~std::uint64_t{0}}});
  folder.finish();
  KindRun run(folder.folder(), kCache);
  CHECK(run.rows("device_id, stream_id, task_number, task_type, e0, e1, e2, e3",
                 "l2_cache ORDER BY id") ==
        Texts{"0|36866|3|1|10|11|12|NULL", "0|0|4|0|-1|0|0|NULL"});
  CHECK(run.rows("value", "meta WHERE key = 'l2_cache.events.0'") == Texts{"0xfb,0xfc,0x90"});
  CHECK(run.findings().empty());
}

TEST_CASE("slices of the L2 cache are read separately, and their trailing bytes are counted") {
  const TempFolder temp;
  ProfSetup setup;
  setup.l2_events = "0xfb";
  ProfFolder folder(temp.path(), setup);
  folder.device(0, prof::L2Cache{.task = 1});
  folder.device(0, prof::L2Cache{.task = 2});
  folder.next_slice(prof::L2Cache::kStem, 0);
  folder.device(0, prof::L2Cache{.task = 3});
  folder.finish();
  cut(device_slice(folder.folder(), 0, prof::L2Cache::kStem), 100);
  KindRun run(folder.folder(), kCache);
  CHECK(run.rows("task_number", "l2_cache ORDER BY id") == Texts{"1", "3"});
  CHECK(run.findings() == Texts{"PARTIAL l2_cache: incomplete record at the end x28"});

  const TempFolder other_temp;
  ProfFolder silent(other_temp.path());
  silent.device(0, prof::L2Cache{.task = 1});
  silent.finish();
  CHECK(KindRun(silent.folder(), kCache).findings() ==
        Texts{"PARTIAL l2_cache: unknown events x1"});
  write_file(device_slice(silent.folder(), 0, prof::L2Cache::kStem), "");
  CHECK(KindRun(silent.folder(), kCache).rows("id", "l2_cache").empty());
}
