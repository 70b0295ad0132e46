// Record kinds of the 2026 collector, read by the real msprof: replayed graphs, memory and copies
// of the runtime, V6 records that are not tasks; and the shared cases of these kinds. Source:
// cann_new_kinds.md 2 to 4.
#include <algorithm>
#include <catch2/catch.hpp>

#include "golden/cann_fixture.hpp"
#include "golden/shared_cases.hpp"
#include "golden/timeline_file.hpp"
#include "support/lines.hpp"
#include "support/prof/wire.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;
namespace fs = std::filesystem;

namespace {

Wire compact(ProfCapture& run, std::uint64_t at, std::uint32_t length,
             std::uint32_t thread = kThread) {
  Wire wire(64);
  wire.u16(0, 0x5A5A).u16(2, kRuntime).u32(8, thread).u32(12, length);
  wire.u64(16, run.prof.setup().host_at(at));
  return wire;
}

// Writes the capture of a graph's stream with these ids, as records of both forms.
void capture_stream(ProfCapture& run, std::uint64_t at, std::uint32_t stream, std::uint32_t model) {
  run.prof.host(CaptureStream{kThread, run.prof.setup().host_at(at), 0,
                              static_cast<std::uint16_t>(stream), 4,
                              static_cast<std::uint16_t>(model), 0});
  run.prof.host(
      "unaging.compact.capture_stream_info_v2",
      compact(run, at, 16).u16(24, 0).u8(26, 0).u32(28, stream).u32(32, 4).u32(36, model).take());
}

void destroy_graph(ProfCapture& run, std::uint64_t at, std::uint32_t model) {
  run.prof.host(CaptureStream{kThread, run.prof.setup().host_at(at), 1, 0xFFFF, 0xFFFF,
                              static_cast<std::uint16_t>(model), 0});
  run.prof.host(
      "unaging.compact.capture_stream_info_v2",
      compact(run, at, 16).u8(26, 1).u32(28, 0xFFFFFFFF).u32(32, 0xFFFFFFFF).u32(36, model).take());
}

// Writes a kernel of a graph on the host; as a full record if `is_wide`.
void captured_kernel(ProfCapture& run, std::uint64_t at, std::uint32_t stream, std::uint32_t task,
                     bool is_wide = true) {
  TaskTrack track;
  track.thread = kThread;
  track.time = run.prof.setup().host_at(at);
  track.stream = static_cast<std::uint16_t>(stream);
  track.task = static_cast<std::uint16_t>(task);
  track.batch = static_cast<std::uint16_t>(task >> 16U);
  track.task_type = kKernelAivec;
  track.kernel_name = run.prof.hash("kernel");
  track.blocks = 8;
  run.prof.host("unaging.compact.task_track", bytes(track));
  if (!is_wide) return;
  run.prof.host("unaging.compact.task_track_v2", compact(run, at, 40)
                                                     .u32(28, stream)
                                                     .u32(32, task)
                                                     .u32(36, kKernelAivec)
                                                     .u64(40, track.kernel_name)
                                                     .take());
}

void captured_op(ProfCapture& run, std::uint64_t at, std::uint32_t model, std::uint32_t stream,
                 std::uint32_t task, const std::string& name) {
  Wire wire(256);
  wire.u16(0, 0x5A5A).u16(2, kRuntime).u32(8, kThread).u32(12, 64 + 44);
  wire.u64(16, run.prof.setup().host_at(at)).u32(24, model).u32(32, stream).u32(36, task);
  wire.u32(40, 2).u32(44, 5).u64(48, run.prof.hash(name)).u64(56, run.prof.hash("Add"));
  wire.u32(80, 1).u32(84, 1).u32(92, 2).u32(100, 16).u32(104, 32);
  run.prof.host("unaging.additional.capture_op_info", wire.take());
}

// "equal", or the output of the shared checker.
std::string judge(const std::string& what, const fs::path& truth, const fs::path& products) {
  const RunResult result =
      run_program("/usr/bin/env", {"python3", (shared_folder() / "tools/check_kinds.py").string(),
                                   what, truth.string(), products.string()});
  return result.exit_code == 0 ? "equal" : result.out + result.err;
}

RunResult export_all(const fs::path& prof) {
  return run_msprof({"export", "all", "-q", "-dir", prof.string()});
}

}  // namespace

TEST_CASE("kernels replayed by a graph have the names, types, shapes and model of its capture") {
  ProfCapture run(setup_950());
  const std::uint32_t stream = GENERATE(9U, 70'001U);
  capture_stream(run, 1000, stream, 90'001);
  captured_kernel(run, 2000, stream, 500'000);
  captured_op(run, 5000, 90'001, stream, 500'000, "graph/add");
  // A task of the runtime itself, on a stream with the same low bits.
  captured_kernel(run, 6000, stream & 0xFFFF, 500'001, false);
  for (const std::uint64_t start : {20'000U, 40'000U})
    run.scene.device_task(kKernelAivec,
                          {1, 500'000 & 0xFFFF, start, start + 5000, 0, 500'000 >> 16});
  run.scene.device_task(kKernelAivec, {1, 500'001 & 0xFFFF, 60'000, 65'000, 0, 500'001 >> 16});
  run.products();
  const std::string row = std::to_string(stream) +
                          "|90001|graph/add|Add|static|AI_VECTOR_CORE|8|YES|\"16,32\"|FLOAT|ND";
  CHECK(run.table("op_summary")
            .cells({"Stream ID", "Model ID", "Op Name", "OP Type", "OP State", "Task Type",
                    "Block Num", "HF32 Eligible", "Input Shapes", "Input Data Types",
                    "Input Formats"}) ==
        Lines{row, row,
              std::to_string(stream & 0xFFFF) + (stream == 9 ? "|90001" : "|4294967295") +
                  "|kernel|kernel|N/A|AI_VECTOR_CORE|8|N/A|N/A|N/A|N/A"});
}

TEST_CASE("two graphs that use one stream consecutively keep their own names") {
  ProfCapture run;
  capture_stream(run, 1000, 9, 11);
  captured_kernel(run, 2000, 9, 0);
  captured_op(run, 5000, 11, 9, 0, "first/add");
  run.scene.device_task(kKernelAivec, {9, 0, 20'000, 25'000, 0});
  destroy_graph(run, 30'000, 11);
  run.scene.flip(kThread, 31'000, 32'000, 0, 9, 0xFFFF);
  capture_stream(run, 40'000, 9, 14);
  captured_kernel(run, 41'000, 9, 0);
  captured_op(run, 45'000, 14, 9, 0, "second/add");
  run.scene.device_task(kKernelAivec, {9, 0, 50'000, 55'000, 0});
  run.products();
  CHECK(run.table("op_summary").cells({"Op Name", "Model ID"}) ==
        Lines{"first/add|11", "second/add|14"});
}

TEST_CASE("platforms of 2026 are recognized by name, and by their records if those are known") {
  struct Platform {
    std::string number, chip;
    int exit_code;
  };
  const Platform platform =
      GENERATE(Platform{"12", "Ascend610Lite", 0}, Platform{"17", "MC62CM12A", 0},
               Platform{"18", "MC32DM11A", 0}, Platform{"21", "5162A", 3});
  INFO(platform.number);
  const bool is_v6 = platform.number == "17" || platform.number == "18";
  ProfSetup setup = is_v6 ? setup_950() : setup_910a();
  setup.platform = platform.number;
  ProfCapture run(setup);
  run.scene.launch({"matmul", "MatMulV2", Core::aic, 20}, {kThread, 1000, 2000},
                   device_task(1, 10'000, 110'000));
  run.prof.finish();
  run.import(platform.exit_code);
  CHECK(run.rows("SELECT text FROM device JOIN name ON name.id = chip_name_id") ==
        Lines{platform.chip});
  CHECK(run.rows("SELECT count(*) FROM task") == Lines{platform.exit_code == 0 ? "1" : "0"});
}

TEST_CASE("V6 chips have columns for both kinds of cores, and times from their records") {
  ProfCapture run(setup_950());
  const auto ticks = [&](std::uint64_t ns) { return run.prof.setup().ticks_at(ns); };
  run.scene.launch({"mix", "Mix", Core::mix_aic, 20, 2}, {kThread, 1000, 2000},
                   {3, 1, 10'000, 20'000, 0, 1});
  PmuV6 main{0, 65'537, false, true, true, false, 0, 64'000, {}, ticks(10'000), ticks(20'000)};
  main.counters[1] = 32'000;
  run.prof.device(0, main);
  PmuV6 other{1, 65'537, true, true, false, false, 0, 32'000, {}, ticks(11'000), ticks(19'000)};
  other.counters[0] = 8'000;
  run.prof.device(0, other);
  // Blocks: function 41, each on one core.
  const auto block = [&](std::uint8_t count, bool is_aiv, std::uint8_t core, std::uint64_t start,
                         std::uint64_t end) {
    PmuV6 record{count, 65'537, is_aiv, true,         !is_aiv,   false,
                 core,  100,    {},     ticks(start), ticks(end)};
    std::string raw = bytes(record);
    raw[0] = static_cast<char>((raw[0] & 0xC0) | 41);
    run.prof.device(0, PmuV6::kStem, raw);
  };
  block(2, false, 0, 10'000, 15'000);
  block(3, false, 1, 12'000, 20'000);
  block(4, true, 5, 11'000, 19'000);
  run.products();
  CHECK(run.import(0).at("verdict") == "complete");
  CHECK(run.table("op_summary")
            .cells({"aicore_time(us)", "aic_total_cycles", "aic_mac_time(us)", "aic_mac_ratio",
                    "aiv_time(us)", "aiv_total_cycles", "aiv_vec_time(us)", "aiv_vec_ratio"}) ==
        Lines{"10.0|64000|5.0|0.5|8.0|32000|2.0|0.25"});
  CHECK(run.rows("SELECT is_vector, block_count, first_core, last_core, last_start_ns -"
                 " first_start_ns, latest_end_ns - earliest_end_ns, busy_ns FROM task_blocks") ==
        Lines{"0|2|0|1|2000|5000|13000", "1|1|5|5|0|0|8000"});
}

TEST_CASE("allocations of the runtime end when they are released or their addresses are reused") {
  ProfCapture run;
  ProfFolder& prof = run.prof;
  std::uint64_t at = 1000;
  const auto call = [&](std::uint32_t type, std::string_view name, std::uint64_t address,
                        std::uint64_t bytes_, std::uint32_t kind, std::uint16_t is_free) {
    prof.set_type(kAcl, type, name);
    prof.set_type(kRuntime, 1014, "DevMalloc");
    run.scene.call(kAcl, type, {kThread, at, at + 900});
    run.scene.call(kRuntime, 1014, {kThread, at + 100, at + 800});
    prof.host("aging.compact.memmng_info", compact(run, at + 110, 32)
                                               .u64(24, address)
                                               .u64(32, bytes_)
                                               .u32(40, kind)
                                               .u16(44, is_free)
                                               .u32(48, 0xFFFFFFFF)
                                               .take());
    at += 1000;
  };
  constexpr std::uint32_t kMalloc = 3 << 16 | 901, kFree = 3 << 16 | 902, kPhysical = 3 << 16 | 903,
                          kReserve = 3 << 16 | 904;
  call(kFree, "aclrtFree", 0x5000, 0, 2, 1);           // memory allocated before the collection
  call(kMalloc, "aclrtMalloc", 0x1000, 0x800, 2, 0);   // released below
  call(kMalloc, "aclrtMalloc", 0x2000, 0x1000, 2, 0);  // its release is lost
  call(kFree, "aclrtFree", 0x1000, 0, 2, 1);
  call(kMalloc, "aclrtMalloc", 0x2800, 0x100, 2, 0);             // never released
  call(kPhysical, "aclrtMallocPhysical", 0x2810, 0x4000, 2, 0);  // a handle
  call(kReserve, "aclrtReserveMemAddress", 0x9000, 0x9000, 2, 0);
  call(kMalloc, "aclrtMallocHost", 0x2000, 0x10, 1, 0);  // another memory space
  run.products();
  CHECK(run.table("runtime_memory")
            .cells({"Kind", "Space", "Address", "Size(Byte)", "State", "API"}) ==
        Lines{"device|memory|0x5000|N/A|allocated before|aclrtFree",
              "device|memory|0x1000|2048|released|aclrtMallocHost",
              "device|memory|0x2000|4096|release not recorded|aclrtMallocHost",
              "device|memory|0x2800|256|held|aclrtMallocHost",
              "device|physical memory|0x2810|16384|held|aclrtMallocPhysical",
              "device|reserved addresses|0x9000|36864|held|aclrtReserveMemAddress",
              "host|memory|0x2000|16|held|aclrtMallocHost"});
  CHECK(run.table("runtime_memory_peak")
            .cells({"Device_id", "Kind", "Space", "Allocations", "Releases", "Releases of Earlier",
                    "Releases Not Recorded", "Peak(Byte)", "Held(Byte)", "Held Blocks"}) ==
        Lines{"0|device|memory|3|1|1|1|6144|256|1",
              "0|device|physical memory|1|0|0|0|16384|16384|1",
              "0|device|reserved addresses|1|0|0|0|36864|36864|1",
              "host|host|memory|1|0|0|0|16|16|1"});
  CHECK(run.rows("SELECT count(*) FROM runtime_memory WHERE runtime_call_id IS NOT NULL AND"
                 " acl_call_id IS NOT NULL") == Lines{"8"});
}

TEST_CASE("shared case graph_a: names, shapes and models of replayed kernels") {
  if (!has_cases_or_skip("kinds")) return;
  const SharedCase made("kinds", "graph_a");
  const RunResult exported = export_all(made.prof);
  INFO(exported.out + exported.err);
  CHECK((exported.exit_code == 0 || exported.exit_code == 3));
  const fs::path truth = made.expected.parent_path() / "truth_graph.json";
  CHECK(judge("graph", truth, made.products) == "equal");
  Lines files = names_in(made.expected);
  std::erase(files, "msprof.json");
  CHECK(compare_products(made.expected, made.products, {}, files) == "equal");
  // All events are equal, but the vendor has two more arrow ends without a start.
  const std::string timeline = compare_products(made.expected, made.products, {}, {"msprof.json"});
  INFO(timeline);
  CHECK(
      contains(timeline, "952 found, 0 missing, 0 not expected; 162 flows expected, 2 missing, 0"));
}

TEST_CASE(
    "shared case mem_a: peak and remainder of every kind of memory, and copies by direction") {
  if (!has_cases_or_skip("kinds")) return;
  const SharedCase made("kinds", "mem_a");
  REQUIRE(run_msprof({"import", "-q", "-dir", made.prof.string()}).exit_code == 0);
  const auto truth =
      nlohmann::json::parse(read_file(made.expected.parent_path() / "truth_mem.json"))
          .at("summary");
  const fs::path store = made.prof / "sqlite" / "msprof.db";
  const auto one = [&](const std::string& sql) { return std::stoll(query(store, sql).at(0)); };
  CHECK(one("SELECT count(*) FROM runtime_memory WHERE is_free = 0") == truth.at("mallocs"));
  CHECK(one("SELECT count(*) FROM runtime_block WHERE end_kind = 1") == truth.at("frees"));
  CHECK(one("SELECT count(*) FROM runtime_block WHERE end_kind = 3") ==
        truth.at("frees_of_unknown"));
  CHECK(one("SELECT count(*) FROM runtime_block WHERE end_kind = 2") ==
        truth.at("frees_lost_seen_by_reuse"));
  std::int64_t held = 0;
  for (const auto& block : truth.at("not_freed")) held += block.at("size").get<std::int64_t>();
  CHECK(one("SELECT sum(size_bytes) FROM runtime_block JOIN runtime_memory ON runtime_memory.id ="
            " allocation_id WHERE end_kind = 0") == held);
  CHECK(one("SELECT sum(size_bytes) FROM runtime_copy WHERE value IS NOT NULL") ==
        truth.at("memset_bytes"));
  for (const auto& row : truth.at("copy_table")) {
    INFO(row.dump());
    const std::string where =
        "FROM runtime_copy JOIN name ON name.id = direction_name_id WHERE value IS NULL AND"
        " device_id = " +
        row.at("device").dump() + " AND stream_id IS " +
        (row.at("mode") == "sync" ? "NULL" : "NOT NULL");
    CHECK(one("SELECT sum(size_bytes) " + where) >= row.at("bytes"));
  }
  // The vendor has no products for these kinds; its other products must be unchanged.
  REQUIRE(export_all(made.prof).exit_code == 0);
  CHECK(compare_products(made.expected, made.products, {}, {}) == "equal");
}

TEST_CASE("shared case v6_a: fused tasks, CCU, data units, blocks, page faults, wide streams") {
  if (!has_cases_or_skip("kinds")) return;
  const SharedCase made("kinds", "v6_a");
  const RunResult exported = export_all(made.prof);
  INFO(exported.out + exported.err);
  CHECK((exported.exit_code == 0 || exported.exit_code == 3));
  CHECK(judge("v6", made.expected.parent_path() / "truth_v6.json", made.products) == "equal");
  // The vendor's op_summary has only the low 16 bits of the graph's stream, and raw kernel names;
  // compares with a corrected file.
  fs::copy(made.expected / "right_op_summary.csv", made.folder / "op_summary.csv");
  CHECK(compare_products(made.folder.path(), made.products, {}, {"op_summary.csv"}) == "equal");
  CHECK(compare_products(made.expected, made.products,
                         {"--tolerance", "--clock", "0.4", "--skip",
                          "ccu_mission.csv:Instruction Start Time(us)", "--skip",
                          "ccu_mission.csv:Instruction Duration(us)"},
                         {"api_statistic.csv", "page_fault.csv", "ccu_channel.csv",
                          "ccu_mission.csv"}) == "equal");
}

TEST_CASE("shared generator: graphs and V6 captures different from the cases") {
  if (!has_cases_or_skip("kinds")) return;
  const fs::path tools = shared_folder() / "tools";
  const auto generate = [](Lines words) {
    words.insert(words.begin(), "python3");
    const RunResult result = run_program("/usr/bin/env", words);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
  };
  const TempFolder folder;
  const std::string truth = (folder / "truth.json").string();
  SECTION("graphs") {
    const Lines options = GENERATE(Lines{"--reuse", "--expand"}, Lines{"--layout", "old"});
    generate({(tools / "genprof.py").string(), (folder / "input").string(), "--tasks", "40",
              "--seed", "15", "--streams", "2", "--threads", "1", "--names", "8", "--steps", "0",
              "--no-opmem", "--no-hccl"});
    const fs::path prof = prof_in(folder / "input");
    Lines words = {(tools / "gen_new_kinds.py").string(),
                   "graph",
                   prof.string(),
                   "--seed",
                   "15",
                   "--models",
                   "3",
                   "--truth",
                   truth};
    words.insert(words.end(), options.begin(), options.end());
    generate(words);
    export_all(prof);
    CHECK(judge("graph", truth, prof / "mindstudio_profiler_output") == "equal");
  }
  SECTION("V6, with parts of fused tasks that cross, and the collector's note of a loss") {
    generate({(tools / "gen_new_kinds.py").string(), "v6", (folder / "input").string(), "--seed",
              "77", "--cross", "--loss", "--truth", truth});
    const fs::path prof = prof_in(folder / "input");
    const RunResult exported = export_all(prof);
    CHECK(exported.exit_code == 3);
    CHECK(judge("v6", truth, prof / "mindstudio_profiler_output") == "equal");
    const RunResult import = run_msprof({"import", "-dir", prof.string()});
    CHECK(import.exit_code == 3);
    CHECK(contains(import.err + import.out, "data of biu_perf lost"));
  }
}
