// Every kind of file of old captures, under each of its names, is read, or listed as not read.
// Source: cann5_classic.md 2.
#include <catch2/catch.hpp>

#include <algorithm>

#include "doctor/capture_checks.hpp"
#include "export/exporter.hpp"
#include "export/products.hpp"
#include "old/old_capture.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

Bytes tagged(std::uint16_t tag) {
  return Bytes().put(std::uint16_t{0x5A5A}).put(tag);
}

std::string entry(std::string text) {
  return text + '\0';
}

// A record of an AI CPU for stream 3, task 9.
std::string node_record() {
  return tagged(60)
      .put(std::uint16_t{3})
      .put(std::uint16_t{9})
      .put(std::uint64_t{10})
      .put(kOldTicks + 900)
      .fill(56)
      .put(kOldTicks + 950)
      .fill(128)
      .bytes();
}

std::string copy_record(std::uint8_t state, std::uint64_t tick) {
  return Bytes()
      .put(std::uint8_t{0})
      .put(std::uint8_t{11})
      .put(std::uint16_t{40})
      .put(std::uint32_t{0})
      .put(tick)
      .put(std::uint16_t{3})
      .put(std::uint16_t{2})
      .put(state)
      .fill(40)
      .bytes();
}

std::string hcom_record() {
  return tagged(80)
      .put(std::uint32_t{0})
      .put(std::uint32_t{0})
      .put(std::uint32_t{3})
      .put(50'000'000.0)
      .text("Memcpy", 16)
      .put(std::uint32_t{4})
      .fill(104)
      .bytes();
}

std::string launch_record() {
  return Bytes()
      .put(std::uint8_t{0})
      .put(std::uint8_t{0})
      .put(std::uint16_t{96})
      .fill(8)
      .put(kOldMonotonicNs)
      .fill(32)
      .text("kernel", 63)
      .fill(96)
      .bytes();
}

std::string hwts_run(std::uint16_t task) {
  return hwts_record(0, 0, task, kOldTicks + 100, 3) + hwts_record(1, 1, task, kOldTicks + 200, 3);
}

std::string sample_of_hbm(std::uint64_t us) {
  return Bytes().put(us).put(us).put(std::uint64_t{0}).bytes();
}

using Cells = std::vector<std::string>;

constexpr const char* kListed = "listed";

struct Content {
  std::string plain, inference, training;  // names in each style; empty: unknown
  std::string bytes;
  std::string rows;  // SQL that returns the imported rows; kListed: the file is only listed
};

std::vector<Content> contents() {
  const std::string tag = ".dev.profiler_default_tag.0.slice_0";
  const auto counts = [](const std::string& text, std::size_t size) {
    return Bytes().text(text, size).bytes();
  };
  return {
      {"hwts.data.0.slice_0", "hwts.log.data.45.0.0", "hwts.log.data.45" + tag, hwts_run(5),
       "SELECT 1 FROM task WHERE task_number = 5"},
      {"aicore.data.0.slice_0", "aicore.data.43.0.0", "aicore.data.43" + tag,
       aicore_record(0, 5, 3, 1000, 7), "SELECT 1 FROM task_pmu WHERE c1 = 1000"},
      {"ts_track.data.0.slice_0", "ts_track.data.44.0.0", "ts_track.data.44" + tag,
       copy_record(1, kOldTicks + 300) + copy_record(2, kOldTicks + 400),
       "SELECT 1 FROM task WHERE task_number = 2"},
      {"training_trace.data.0.slice_0", "", "training_trace.46" + tag,
       trace_mark(1, 1, kOldTicks + 10) + trace_mark(2, 1, kOldTicks + 20) +
           trace_mark(255, 1, kOldTicks + 30),
       "SELECT 1 FROM iteration WHERE number = 1"},
      {"", "", "training_trace" + tag, trace_mark(255, 1, 5), "SELECT 1"},
      {"l2_cache.data.0.slice_0", "l2_cache.data.5.0.0", "l2_cache.data.5" + tag,
       Bytes().put(std::uint16_t{0}).put(std::uint16_t{3}).put(std::uint16_t{5}).fill(72).bytes(),
       "SELECT 1 FROM l2_cache"},
      {"Framework.task_desc_info.0.slice_0", "Framework.task_desc_info.0.0", "",
       task_desc("net/conv", "Conv2D", 0, 3, 5), "SELECT 1 FROM op"},
      {"", "", "Framework.host.task_desc_info.0.slice_0", "m net/conv 8 5 3\n",
       "SELECT 1 FROM op_task WHERE task_number = 5"},
      {"", "", "Framework.host.vm.task_desc_info.0.slice_0", "net/relu 8 6 3\n",
       "SELECT 1 FROM op_task WHERE task_number = 6"},
      {"", "", "Framework.host.graph_desc_info.0.slice_0", "op_name:net/a op_type:A\n",
       "SELECT 1 FROM name WHERE text = 'net/a'"},
      {"", "", "Framework.host.vm.graph_desc_info.0.slice_0", "op_name:net/b op_type:B\n",
       "SELECT 1 FROM name WHERE text = 'net/b'"},
      {"", "", "Framework.host.vm.point.0.slice_0", "1 net/a\n", "SELECT 1"},
      {"Framework.step_info.0.slice_0", "", "", tagged(25).fill(64).bytes(), "SELECT 1"},
      {"Framework.id_map_info.0.slice_0", "", "", tagged(26).fill(32).bytes(), "SELECT 1"},
      {"Framework.tensor_data_info.0.slice_0", "", "", tagged(24).fill(256).bytes(), "SELECT 1"},
      {"Framework.hash_dic.0.slice_0", "", "", "7:seven\n", "SELECT 1"},
      {"AclModule.hash_dic.0.slice_0", "", "", "8:eight\n", "SELECT 1"},
      {"Framework.model_load_info_1.0.slice_0", "Framework.model_load_info_1.0.0", "",
       tagged(20).put(1U).fill(256).bytes(), "SELECT 1 FROM model"},
      {"", "", "Framework.host.model_load_info_1.0.slice_0", "x", kListed},
      {"Framework.model_time_info_1_0.0.slice_0", "Framework.model_time_info_1_0.0.0", "",
       tagged(22).put(1U).fill(256).bytes(),
       "SELECT 1 FROM api_call JOIN name ON name.id = name_id WHERE text = 'Infer'"},
      {"Framework.fusion_op_info_1.0.slice_0", "", "", tagged(21).put(1U).fill(256).bytes(),
       "SELECT 1 FROM fusion_op"},
      {"Framework.dynamic_op_execute.0.slice_0", "", "", tagged(27).fill(64).bytes(),
       "SELECT 1 FROM api_call"},
      {"Framework.single_op_task_info.0.slice_0", "", "", counts("x", 64), kListed},
      {"Framework.single_op_tensor_info.0.slice_0", "", "", counts("x", 64), kListed},
      {"AclModule.acl_model.0.slice_0", "AclModule.acl_model.0.0", "", acl_call("aclM", 1, 2),
       "SELECT 1 FROM api_call JOIN name ON name.id = name_id WHERE text = 'aclM'"},
      {"AclModule.acl_op.0.slice_0", "AclModule.acl_op.0.0", "", acl_call("aclO", 1, 2),
       "SELECT 1 FROM api_call JOIN name ON name.id = name_id WHERE text = 'aclO'"},
      {"AclModule.acl_rts.0.slice_0", "AclModule.acl_rts.0.0", "", acl_call("aclR", 1, 2),
       "SELECT 1 FROM api_call JOIN name ON name.id = name_id WHERE text = 'aclR'"},
      {"AclModule.acl_others.0.slice_0", "AclModule.acl_others.0.0", "", acl_call("aclX", 1, 2),
       "SELECT 1 FROM api_call JOIN name ON name.id = name_id WHERE text = 'aclX'"},
      {"runtime.api.0.slice_0", "", "", tagged(40).fill(32).text("rtA", 64).fill(256).bytes(),
       "SELECT 1 FROM api_call JOIN name ON name.id = name_id WHERE text = 'rtA'"},
      {"Runtime.api.0.slice_0", "", "", tagged(40).fill(32).text("rtB", 64).fill(256).bytes(),
       "SELECT 1 FROM api_call JOIN name ON name.id = name_id WHERE text = 'rtB'"},
      {"", "Runtime.runtime.data.0.0", "", counts("x", 40), kListed},
      {"", "Runtime.runtime.0.0", "", counts("x", 40), kListed},
      {"runtime.task_track.0.slice_0", "", "", tagged(41).fill(64).bytes(), "SELECT 1"},
      {"Runtime.task_track.0.slice_0", "", "", tagged(41).fill(64).bytes(), "SELECT 1"},
      {"runtime.host.runtime.0.slice_0", "", "runtime.host.runtime.0.slice_0", launch_record(),
       "SELECT 1 FROM task_launch"},
      {"DATA_PREPROCESS.AICPU.0.slice_0", "", "", node_record(),
       "SELECT 1 FROM aicpu_node JOIN task ON task.task_number = aicpu_node.task_number"},
      {"", "", "DATA_PREPROCESS.dev.AICPU.0.slice_0",
       entry("[5] Node:a/GetNext-op3, Run start:10, Run end:30"), "SELECT 1 FROM aicpu_node"},
      {"DATA_PREPROCESS.AICPU_MODEL.0.slice_0", "", "", tagged(61).fill(64).bytes(), "SELECT 1"},
      {"DATA_PREPROCESS.DP.0.slice_0", "", "DATA_PREPROCESS.dev.DP.0.slice_0",
       entry("[7] Last queue dequeue, source:dp, index:1, size:2"),
       "SELECT 1 FROM data_queue JOIN name ON name.id = source_name_id WHERE text = 'dp'"},
      {"DATA_PREPROCESS.TDT.0.slice_0", "", "DATA_PREPROCESS.dev.TDT.0.slice_0",
       entry("[7] Enqueue data to dp, source:tdt, index:1, size:2"),
       "SELECT 1 FROM data_queue JOIN name ON name.id = source_name_id WHERE text = 'tdt'"},
      {"DATA_PREPROCESS.AICPUMI.0.slice_0", "", "DATA_PREPROCESS.dev.AICPUMI.0.slice_0",
       entry("Node:mi, Run start:1, Run end:2, queue size:3"),
       "SELECT 1 FROM data_queue JOIN name ON name.id = source_name_id WHERE text = 'mi'"},
      {"HCCL.hcom_allReduce_1_1_1.0.slice_0", "", "HCCL.host.hcom_allReduce_1_1_1.0.slice_0",
       hcom_record(),
       "SELECT 1 FROM comm_task JOIN task ON task.id = task_id JOIN comm_call ON"
       " comm_call.id = comm_call_id JOIN name ON name.id = op_name_id"
       " WHERE text = 'hcom_allReduce_1_1_1'"},
      {"Msprof.msproftx.slice_0", "", "", tagged(120).fill(256).bytes(),
       "SELECT 1 FROM user_range"},
      {"hwts.aiv_data.0.slice_0", "", "", hwts_run(8),
       "SELECT 1 FROM task JOIN name ON name.id = device_type_name_id"
       " WHERE task_number = 8 AND text = 'AI_VECTOR_CORE'"},
      {"aiVectorCore.data.0.slice_0", "", "", aicore_record(0, 8, 3, 2000, 7),
       "SELECT 1 FROM task_pmu WHERE c10 = 2000"},
      {"ts_track.aiv_data.0.slice_0", "", "", counts("x", 40), kListed},
      // System counters: the names in later captures, and names with a channel or a tag.
      {"hbm.data.0.slice_0", "hbm.data.7.0.0", "hbm.data.7" + tag,
       sample_of_hbm(1000) + sample_of_hbm(2000), "SELECT 1 FROM counter"},
      {"some.data.0.slice_0", "some.data.1.0.0", "some.data.1" + tag, "x", kListed},
  };
}

// A naming style and its folder.
struct Style {
  const char* folder;
  const char* data;
  std::string Content::*name;
};

// A sample of core 2 (cann_device.md 6.4): the time is in ns of the device clock.
std::string core_sample(std::uint64_t device_ns, std::uint64_t cycles) {
  Bytes bytes;
  bytes.put(std::uint64_t{1});
  for (std::uint64_t event = 0; event < 8; ++event) bytes.put(10 + event);
  return bytes.put(cycles)
      .put(device_ns)
      .put(std::uint8_t{8})
      .put(std::uint8_t{2})
      .fill(96)
      .bytes();
}

}  // namespace

TEST_CASE("All files of old captures are read or listed, under each of their names") {
  const Style style = GENERATE(
      Style{"PROF_1", "device_0/data", &Content::plain}, Style{"JOBABC", "data", &Content::plain},
      Style{"JOBABC", "data", &Content::inference}, Style{"JOBABC", "", &Content::training});
  const TempFolder temp;
  const fs::path folder = temp / style.folder;
  const bool is_job = std::string(style.folder) == "JOBABC";
  write_old_info(is_job ? folder : folder / "device_0");
  const auto all = contents();
  for (const Content& content : all) {
    const std::string& name = content.*style.name;
    if (!name.empty()) write_file(folder / style.data / name, content.bytes);
  }
  const OldCapture capture(folder);
  INFO(capture.report().text());
  for (const Content& content : all) {
    const std::string& name = content.*style.name;
    if (name.empty()) continue;
    CAPTURE(style.folder, name);
    const auto& findings = capture.report().findings();
    const bool is_listed =
        std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
          return finding.id == FindingId::unread_kind && fs::path(finding.file).filename() == name;
        });
    CHECK(is_listed == (content.rows == kListed));
    if (content.rows != kListed) CHECK_FALSE(capture.rows(content.rows).empty());
  }
}

TEST_CASE("Sampled counters are those of the cores, on both chips") {
  const char* platform = GENERATE("0", "1");
  const bool is_job = GENERATE(false, true);
  const TempFolder temp;
  const fs::path folder = temp / (is_job ? "JOBABC" : "PROF_1");
  const fs::path part = is_job ? folder : folder / "device_0";
  write_old_info(part);
  write_file(part / "info.json.0",
             std::string(R"({"platform_version": ")") + platform +
                 R"(", "DeviceInfo": [{"hwts_frequency": "100", "aic_frequency": "1000"}]})");
  write_file(part / "sample.json",
             R"({"ai_core_profiling": "on", "ai_core_profiling_mode": "sample-based",)"
             R"( "ai_core_profiling_events": "0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55"})");
  write_file(part / "data/aicore.data.0.slice_0",
             core_sample(1'000'001, 500) + core_sample(2'000'001, 250'000));
  write_file(part / "data/AclModule.acl_model.0.slice_0", acl_call("a", 1, 2));
  if (is_job) write_file(part / "data/hwts.data.0.slice_0", hwts_run(5));
  const OldCapture capture(folder);
  INFO(capture.report().text());
  CHECK(capture.damage().empty());
  // The core's busy share of the 1 ms, at 1 GHz; events have no frequency.
  const auto rates = [&](const std::string& number) {
    return capture.rows(
        "SELECT value * 1000000000 / (time_ns - begin_ns) / divisor FROM counter JOIN track"
        " ON track.id = track_id JOIN name ON name.id = subject_name_id"
        " WHERE text = 'AI Core 2' AND begin_ns IS NOT NULL AND part = " +
        number);
  };
  CHECK(rates("0") == Cells{"25"});
  CHECK(capture.rows("SELECT DISTINCT value FROM counter JOIN track ON track.id = track_id"
                     " WHERE part = 8") == Cells{"17"});
  CHECK(capture.rows("SELECT time_ns - begin_ns FROM counter JOIN track ON track.id = track_id"
                     " WHERE part = 0 AND begin_ns IS NOT NULL") == Cells{"1000000"});
  CHECK(capture.rows("SELECT count(*) FROM task_pmu") == Cells{"0"});
}

TEST_CASE("Steps of a PROF folder without step marks are read from training_trace") {
  const TempFolder temp;
  const fs::path data = temp / "PROF_1/device_0/data";
  write_old_info(temp / "PROF_1/device_0");
  std::string marks;
  for (const std::uint64_t at : {kOldTicks, kOldTicks + 1000}) {
    marks += trace_mark(1, 1, at + 10) + trace_mark(2, 1, at + 500) + trace_mark(255, 1, at + 900);
  }
  write_file(data / "training_trace.data.0.slice_0", marks);
  write_file(data / "hwts.data.0.slice_0", hwts_run(5));
  write_file(data / "Framework.task_desc_info.0.slice_0", task_desc("net/conv", "Conv2D", 0, 3, 5));
  const OldCapture capture(temp / "PROF_1");
  INFO(capture.report().text());
  CHECK(capture.damage().empty());
  CHECK(capture.rows("SELECT number, end_ns - start_ns FROM iteration ORDER BY id") ==
        Cells{"1|8900", "2|10000"});
  CHECK(capture.rows("SELECT text FROM task JOIN name ON name.id = kernel_name_id") ==
        Cells{"net/conv"});
}

TEST_CASE("Step marks are preferred over the steps of training_trace, with a note") {
  const TempFolder temp;
  write_old_info(temp / "JOBABC");
  const fs::path data = temp / "JOBABC/data";
  write_file(data / "training_trace.46.dev.profiler_default_tag.0.slice_0",
             trace_mark(1, 1, kOldTicks + 10) + trace_mark(2, 1, kOldTicks + 20) +
                 trace_mark(255, 1, kOldTicks + 30));
  write_file(data / "ts_track.data.44.dev.profiler_default_tag.0.slice_0",
             step_mark(kOldTicks + 100, 0) + step_mark(kOldTicks + 200, 1));
  const OldCapture capture(temp / "JOBABC");
  CHECK(capture.damage().empty());
  CHECK(capture.rows("SELECT id, number, end_ns - start_ns FROM iteration") == Cells{"1|1|1000"});
  CHECK(capture.report().text().find("the steps are read from ts_track.data") != std::string::npos);
}

TEST_CASE("A JOB folder with only descriptions has a table of them") {
  const TempFolder temp;
  write_old_info(temp / "JOBABC");
  write_file(temp / "JOBABC/data/Framework.host.vm.task_desc_info.0.slice_0", "net/conv 8 5 3\n");
  const OldCapture capture(temp / "JOBABC");
  const auto db = TraceDb::open(capture.store());
  std::string with_data;
  for (const auto& table : default_tables(db->database())) {
    if (!table->output_files(db->database()).empty()) with_data += std::string(table->name()) + ' ';
  }
  CHECK(with_data.find("framework ") != std::string::npos);
  // Products that did not exist in that version are not listed as missing.
  const auto empty = empty_products(db->database(), {});
  CHECK(std::count(empty.begin(), empty.end(), "summary op_time") == 1);
  CHECK(std::count(empty.begin(), empty.end(), "summary operator_memory") == 0);
  CHECK(std::count(empty.begin(), empty.end(), "summary acl") == 0);
}

TEST_CASE("The doctor does not require newer files of an old capture") {
  const TempFolder temp;
  const bool is_job = GENERATE(false, true);
  const fs::path folder = temp / (is_job ? "JOBABC" : "PROF_1");
  const fs::path part = is_job ? folder : folder / "device_0";
  write_old_info(part);
  if (is_job) fs::remove(part / "end_info.0");
  write_file(part / "data/hwts.data.0.slice_0", hwts_run(5));
  write_file(part / "data/AclModule.acl_model.0.slice_0", acl_call("a", 1, 2));
  CheckList list;
  check_capture(list, folder, temp / "none");
  std::string products;
  for (const Check& check : list.checks()) {
    CAPTURE(check.name, check.evidence, check.remedy);
    CHECK(check.result != CheckResult::failed);
    CHECK(check.result != CheckResult::warning);
    // Current options cannot change an old recording.
    CHECK(check.remedy.find("--") == std::string::npos);
    CHECK(check.remedy.find("acl.json") == std::string::npos);
    CHECK(check.name.find("operator_memory") == std::string::npos);
    CHECK(check.name.find("api_statistic") == std::string::npos);
    if (check.name == "products") products = check.evidence;
  }
  CHECK(products.find("acl") != std::string::npos);
  CHECK((products.find("counts") != std::string::npos) == is_job);
}
