// Independent kinds of the 2026 collector: its file about lost data, operators of replayed kernels,
// hardware queues, busy units of a core. Source: cann_new_kinds.md 2.4, 2.5, 4.5, 7.
#include <catch2/catch.hpp>

#include "import/cann_kind_run.hpp"
#include "support/files.hpp"
#include "support/prof/prof_folder.hpp"
#include "support/prof/wire.hpp"

using namespace msprof;
using namespace msprof::cann;
using namespace msprof::test;
using prof::ProfFolder;
using prof::Wire;

namespace {

constexpr std::string_view kShort = "unaging.additional.capture_op_info";
constexpr std::string_view kLong = "unaging.variable.capture_op_info";

struct CaptureOp {
  std::uint32_t model = 11, stream = 70'001, task = 500'000, tensors = 1;
  std::uint64_t time = 1000, name = 1, attribute = 0;
  bool is_old = false;          // the format before 2026
  std::uint32_t claimed = ~0U;  // claimed number of tensors
};

std::string capture_op(const CaptureOp& op, std::size_t room = 0) {
  const std::size_t fixed = op.is_old ? 48 : 64;
  const std::size_t length = fixed + 44 * op.tensors;
  Wire wire(std::max(room, 24 + length));
  wire.u16(0, 0x5A5A).u16(2, 5000).u32(4, 805).u32(8, 9).u32(12, length).u64(16, op.time);
  wire.u32(24, op.model).u32(28, 0).u32(32, op.stream).u32(36, op.task);
  wire.u32(40, 2).u32(44, 2U << 16U | 20U).u64(48, op.name).u64(56, 2);
  std::size_t at = 64;
  if (!op.is_old) {
    wire.u64(64, op.attribute);
    at = 80;
  }
  wire.u32(at, 1).u32(at + 4, op.claimed == ~0U ? op.tensors : op.claimed);
  for (std::uint32_t i = 0; i < op.tensors; ++i)
    wire.u32(at + 8 + 44 * i, i == 0 ? 0 : 1).u32(at + 8 + 44 * i + 12, 16 + i);
  return wire.take();
}

const std::vector<KindRun::Maker> kCapture{make_capture_op_info_kind,
                                           make_long_capture_op_info_kind};

const CapturedOp* find(const KindRun& run, const CapturedOps::WantedOp& wanted) {
  return run.import().host.captured_ops.find(wanted);
}

void sort(KindRun& run) {
  const_cast<CannImport&>(run.import()).host.captured_ops.sort();
}

}  // namespace

TEST_CASE("a loss recorded by the collector makes the capture partial and is quoted") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  folder.finish();
  const auto note = folder.folder() / "device_0" / "data" / "prof_collect.info";
  const auto findings = [&](std::string_view text) {
    write_file(note, text);
    KindRun run(folder.folder(), {make_collection_loss_kind});
    REQUIRE(run.findings().size() == 1);
    return run.findings().front() + ": " + run.finding(0).detail;
  };
  CHECK(findings("{\n \"collect_status\": \"data_loss\",\n \"data_loss\": [\n {\"module\":"
                 " \"biu_perf\", \"device_id\": 0, \"channel_id\": 97, \"ret_code\": \"0x916\","
                 " \"reason\": \"retry\", \"detail\": \"groupId=0\"}]\n}\n") ==
        "PARTIAL prof_collect.info: data of biu_perf lost x1: retry; groupId=0; ret_code 0x916;"
        " device_id 0; channel_id 97");
  // The file itself means loss, whatever it contains.
  for (const std::string_view text : {"", "{", "[]", "{\"data_loss\": 1}", "{\"data_loss\": [3]}"})
    CHECK(findings(text) ==
          "PARTIAL prof_collect.info: data lost x1: the file does not describe the loss");
  CHECK(findings(std::string(100'000, '[')) ==
        "PARTIAL prof_collect.info: data lost x1: the file does not describe the loss");
}

TEST_CASE("operators of replayed kernels are read in the short and the long format") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  folder.host(kShort, capture_op({.task = 1, .tensors = 3, .attribute = 7}, 256));
  folder.host(kShort, capture_op({.task = 2, .tensors = 4, .is_old = true}, 256));
  folder.host(kLong, capture_op({.task = 3, .tensors = 9}));
  folder.host(kLong, capture_op({.task = 4, .tensors = 20, .is_old = true}));
  folder.finish();
  KindRun run(folder.folder(), kCapture);
  CHECK(run.findings().empty());
  CHECK(run.records() == 4);
  sort(run);
  for (const std::uint32_t task : {1U, 2U, 3U, 4U}) {
    const CapturedOp* op = find(run, {.stream = 70'001, .task = task, .model = 11});
    REQUIRE(op != nullptr);
    CHECK(op->tensors.size() == 44 * std::vector<std::size_t>{3, 4, 9, 20}[task - 1]);
    CHECK(op->attribute == (task == 1 ? 7 : 0));
    CHECK(op->blocks == (2U << 16U | 20U));
    CHECK(op->is_unaging);
  }
}

TEST_CASE("the last operator of a model, stream and task is used") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  folder.host(kShort,
              capture_op({.model = 11, .stream = 5, .task = 1, .time = 10, .name = 1}, 256));
  folder.host(kShort,
              capture_op({.model = 11, .stream = 5, .task = 1, .time = 30, .name = 2}, 256));
  // A second graph on the same stream, and a stream with the same low bits.
  folder.host(kShort,
              capture_op({.model = 14, .stream = 5, .task = 1, .time = 40, .name = 3}, 256));
  folder.host(kShort,
              capture_op({.model = 11, .stream = 65'541, .task = 1, .time = 50, .name = 4}, 256));
  folder.finish();
  KindRun run(folder.folder(), kCapture);
  sort(run);
  const auto name = [&](const CapturedOps::WantedOp& wanted) {
    const CapturedOp* op = find(run, wanted);
    return op == nullptr ? 0 : op->name;
  };
  CHECK(name({.stream = 5, .task = 1, .model = 11, .has_wide_model = true}) == 2);
  CHECK(name({.stream = 5, .task = 1, .model = 14, .has_wide_model = true}) == 3);
  CHECK(name({.stream = 65'541, .task = 1, .model = 11, .has_wide_model = true}) == 4);
  CHECK(name({.stream = 65'541, .task = 1, .model = 14, .has_wide_model = true}) == 0);
  CHECK(name({.stream = 5, .task = 2, .model = 11}) == 0);
  CHECK(name({.device = 1, .stream = 5, .task = 1, .model = 11}) == 0);
  CHECK(name({.stream = 5, .task = 65'537, .has_wide_task = true, .model = 11}) == 0);
  CHECK(name({.stream = 5, .task = 1}) == 3);
}

TEST_CASE("a damaged or truncated operator of a replayed kernel loses only itself") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  folder.host(kShort, capture_op({.task = 1, .tensors = 3, .claimed = 4}, 256));
  folder.host(kShort, capture_op({.task = 2}, 256));
  std::string broken = capture_op({.task = 3, .tensors = 8});
  broken[0] = 'x';
  folder.host(kLong, broken);
  folder.host(kLong, capture_op({.task = 4, .tensors = 8}));
  std::string odd = capture_op({.task = 5, .tensors = 8});
  odd.resize(odd.size() + 1);
  odd[12] = static_cast<char>(odd[12] + 1);
  folder.host(kLong, odd);
  folder.host(kLong, capture_op({.task = 6, .tensors = 8}));
  folder.host(kLong, capture_op({.task = 7, .tensors = 8}).substr(0, 100));
  folder.finish();
  KindRun run(folder.folder(), kCapture);
  sort(run);
  std::string found;
  for (std::uint32_t task = 1; task <= 7; ++task)
    if (find(run, {.stream = 70'001, .task = task}) != nullptr) found += std::to_string(task);
  CHECK(found == "246");
  CHECK(run.findings() == Texts{"PARTIAL capture_op_info: more tensors than fit in the record x1",
                                "PARTIAL capture_op_info: bad magic or length x1",
                                "PARTIAL capture_op_info: impossible length x1",
                                "PARTIAL capture_op_info: incomplete record at the end x100"});
  write_file(host_slice(folder.folder(), kLong), "");
  write_file(host_slice(folder.folder(), kShort), "");
  KindRun empty(folder.folder(), kCapture);
  CHECK(empty.import().host.captured_ops.empty());
}

TEST_CASE("a stream has its hardware queue from its creation to its end") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  const auto add = [&](std::uint16_t status, std::uint32_t stream, std::uint64_t at) {
    folder.host("unaging.compact.stream_sq_info", Wire(64)
                                                      .u16(0, 0x5A5A)
                                                      .u16(2, 5000)
                                                      .u32(12, 16)
                                                      .u64(16, folder.setup().host_at(at))
                                                      .u16(24, status)
                                                      .u32(28, stream)
                                                      .u16(32, 7)
                                                      .u16(34, 0)
                                                      .u16(36, 1)
                                                      .take());
  };
  add(0, 3, 100);
  add(0, 4, 200);
  add(1, 3, 300);
  add(0, 3, 400);
  add(1, 9, 500);  // never seen
  folder.finish();
  KindRun run(folder.folder(), {make_stream_sq_info_kind});
  CHECK(run.rows("device_id, stream_id, queue_id, scheduler_id, start_ns, end_ns",
                 "stream_queue ORDER BY id") == Texts{"0|3|7|1|" + ns(100) + "|" + ns(300),
                                                      "0|4|7|1|" + ns(200) + "|NULL",
                                                      "0|3|7|1|" + ns(400) + "|NULL"});
}

TEST_CASE("units of a core are busy while their bit is set") {
  const TempFolder temp;
  ProfFolder folder(temp.path());  // cores at 1000 MHz
  const std::uint64_t ticks = folder.setup().ticks_at(1000);
  std::string words;
  const auto word = [&](std::uint64_t value, std::uint64_t control) {
    words += Wire(4).u16(0, value & 0xFFFF).u16(2, control).take();
  };
  for (int k = 0; k < 4; ++k) word(ticks >> (16 * k), k == 0 ? 0xE003 : 0xE000);
  word(500, 0xF004);  // CUBE
  word(0, 0x2001);    // a checkpoint
  word(250, 0xF044);  // CUBE and FIXP
  word(250, 0xF040);
  word(1, 0x9000);  // not a unit record
  word(99, 0xF000);
  words += Wire(4).u32(0, 0xEFFFFFFF).take() + Wire(4).u32(0, 0xDDDDDDDD).take();
  folder.device(0, "instr.biu_perf_group2_aiv1", words + "x");
  folder.finish();
  KindRun run(folder.folder(), {make_biu_perf_kind});
  CHECK(
      run.rows("core_group, text, unit, block_id, start_ns, end_ns",
               "biu_span JOIN name ON name.id = core_name_id ORDER BY biu_span.id") ==
      Texts{"2|aiv1|2|3|" + ns(1500) + "|" + ns(2000), "2|aiv1|6|3|" + ns(1750) + "|" + ns(2100)});
  CHECK(run.findings() == Texts{"PARTIAL biu_perf: invalid word x1",
                                "PARTIAL biu_perf: incomplete record at the end x1"});
}
