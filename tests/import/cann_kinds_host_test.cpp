#include <catch2/catch.hpp>

#include "import/cann_kind_run.hpp"
#include "support/files.hpp"
#include "support/prof/prof_folder.hpp"

using namespace msprof;
using namespace msprof::cann;
using namespace msprof::test;
using prof::ProfFolder;
using prof::TxMark;

namespace {

constexpr std::string_view kTexts =
    " LEFT JOIN name m ON m.id = message_name_id"
    " LEFT JOIN name d ON d.id = domain_name_id ORDER BY u.id";

Texts marks(KindRun& run) {
  return run.rows("is_extended, mark_id, m.text, d.text", "user_range u" + std::string(kTexts));
}

const std::vector<KindRun::Maker> kTx{make_hash_dic_kind, make_msproftx_kind};
const std::vector<KindRun::Maker> kMemory{make_hash_dic_kind, make_task_memory_info_kind};

}  // namespace

TEST_CASE("graph_id_map names models, and the last record of a model is used") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  folder.host(prof::GraphIdMap{.model_name = folder.hash("old"), .graph = 9, .model = 3});
  folder.host(prof::GraphIdMap{.model_name = 0, .model = 2});
  folder.host(prof::GraphIdMap{.model_name = folder.hash("net"), .model = 3});
  folder.finish();
  KindRun run(folder.folder(), {make_hash_dic_kind, make_graph_id_map_kind});
  CHECK(run.rows("m.id, device_id, model_id, text", "model m JOIN name n ON n.id = name_id") ==
        Texts{"1|NULL|2|0", "2|NULL|3|net"});
  CHECK(run.import().host.model_names.size() == 2);
  CHECK(run.findings().empty());
}

TEST_CASE("a damaged or truncated graph_id_map loses only the damaged record") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  for (std::uint32_t i = 1; i <= 4; ++i) {
    folder.host(prof::GraphIdMap{.model_name = folder.hash("net"), .model = i});
  }
  folder.finish();
  const auto slice = host_slice(folder.folder(), prof::GraphIdMap::kStem);
  overwrite(slice, 256, "xx");
  cut(slice, 4 * 256 - 1);
  KindRun run(folder.folder(), {make_hash_dic_kind, make_graph_id_map_kind});
  CHECK(run.rows("model_id", "model ORDER BY id") == Texts{"1", "3"});
  CHECK(run.findings().size() == 2);
  write_file(slice, "");
  KindRun empty(folder.folder(), {make_hash_dic_kind, make_graph_id_map_kind});
  CHECK(empty.rows("model_id", "model").empty());
}

TEST_CASE("a range of the application has its recorded and its displayed times") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  const auto at = [&](std::uint64_t after) { return folder.setup().host_at(after); };
  folder.host(TxMark{.process = 11,
                     .thread = 12,
                     .category = 13,
                     .event = 1,
                     .payload_type = -1,
                     .payload = 15,
                     .begin = at(1'000'010),
                     .end = at(2'000'000),
                     .message_type = 16,
                     .message = "step"});
  folder.finish();
  KindRun run(folder.folder(), kTx);
  CHECK(run.rows("start_ns, end_ns, vendor_start_ns, vendor_end_ns", "user_range") ==
        Texts{ns(1'000'010) + "|" + ns(2'000'000) + "|" + ns(1'000'010) + "|" + ns(2'000'000)});
  CHECK(run.rows("process_id, thread_id, category, event_type, payload_type, payload_value,"
                 "message_type, domain_name_id",
                 "user_range") == Texts{"11|12|13|1|-1|15|16|NULL"});
  CHECK(marks(run) == Texts{"0|0|step|NULL"});
}

TEST_CASE("the segments of a message are joined in any order") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  const std::uint64_t domain = folder.hash("dom");
  folder.host(
      TxMark{.is_ex = true, .segment = 1, .event = 3, .begin = 9, .mark = 7, .message = "World"});
  folder.host(TxMark{.is_ex = true, .event = 3, .mark = 8, .domain = 99, .message = "alone"});
  folder.host(TxMark{
      .is_ex = true, .event = 2, .begin = 5, .mark = 7, .domain = domain, .message = "Hello"});
  folder.host(TxMark{.is_ex = true, .segment = 1, .mark = 7, .message = "again"});
  folder.finish();
  KindRun run(folder.folder(), kTx);
  CHECK(marks(run) == Texts{"1|7|HelloWorld|dom", "1|8|alone|invalid"});
  // The other fields come from the lowest segment; an extended range has no category, payload or
  // message type.
  CHECK(run.rows("event_type, category, payload_type, payload_value, message_type",
                 "user_range WHERE id = 1") == Texts{"2|NULL|NULL|NULL|NULL"});
  CHECK(run.findings() == Texts{"PARTIAL msproftx: duplicate segment of a message x1"});
}

TEST_CASE("a message without a NUL keeps its last byte") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  std::string record = prof::bytes(TxMark{.message = "x"});
  for (std::size_t i = 100; i < 256; ++i) record[i] = i == 255 ? 'E' : 'a';
  folder.host(TxMark::kStem, record);
  folder.finish();
  KindRun run(folder.folder(), kTx);
  CHECK(run.rows("length(text), text LIKE '%aE'",
                 "user_range JOIN name n ON n.id = message_name_id") == Texts{"156|1"});
}

TEST_CASE("unknown info types and bad magics of msproftx are counted, other records are read") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  for (const char* text : {"a", "b", "c", "d"}) folder.host(TxMark{.message = text});
  folder.finish();
  const auto slice = host_slice(folder.folder(), TxMark::kStem);
  overwrite(slice, 24, std::string_view("\x02\x00", 2));
  overwrite(slice, 256, "xx");
  KindRun run(folder.folder(), kTx);
  CHECK(marks(run) == Texts{"0|0|c|NULL", "0|0|d|NULL"});
  CHECK(run.findings().size() == 2);
  CHECK(run.findings() ==
        Texts{"PARTIAL msproftx: unknown info type x1", "PARTIAL msproftx: bad magic x1"});
  cut(slice, 700);
  KindRun shorter(folder.folder(), kTx);
  CHECK(marks(shorter).empty());
}

TEST_CASE("memory events are in file order with the fields of the record") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  const auto at = [&](std::uint64_t after) { return folder.setup().host_at(after); };
  folder.host(prof::TaskMemory{.thread = 5,
                               .time = at(2000),
                               .address = 0xFFFF'FFFF'FFFF'FFF0,
                               .size = 4096,
                               .node = folder.hash("Add"),
                               .allocated = 4096,
                               .reserved = 8192,
                               .device = 3});
  folder.host(prof::TaskMemory{.time = at(1000), .address = 1, .size = -4096, .node = 77});
  folder.host(prof::TaskMemory{.time = at(3000), .size = 0});
  folder.finish();
  KindRun run(folder.folder(), kMemory);
  CHECK(run.rows("device_id, thread_id, text, address, size_bytes, total_allocated_bytes,"
                 "total_reserved_bytes",
                 "memory_event e LEFT JOIN name n ON n.id = name_id ORDER BY e.id") ==
        Texts{"3|5|Add|-16|4096|4096|8192", "0|0|NULL|1|-4096|0|0", "0|0|NULL|0|0|0|0"});
  CHECK(run.rows("time_ns, vendor_time_ns, host_count, name_hash", "memory_event WHERE id = 2") ==
        Texts{ns(1000) + "|" + ns(1000) + "|" + std::to_string(at(1000)) + "|77"});
}

TEST_CASE("at 1000 MHz, times of memory events are also computed from the start log") {
  const TempFolder temp;
  prof::ProfSetup setup;
  setup.host_mhz = "1000.000000";
  setup.host_count = 400;  // differs from the monotonic time
  setup.host_ns_per_count = 1;
  ProfFolder folder(temp.path(), setup);
  folder.host(prof::TaskMemory{.time = 1400, .size = 1});
  folder.finish();
  KindRun run(folder.folder(), kMemory);
  CHECK(run.rows("time_ns", "memory_event") == Texts{ns(1000)});
  // The displayed time treats the count as nanoseconds: 5 s before the start, plus 1400 ns.
  CHECK(run.rows("vendor_time_ns", "memory_event") == Texts{ns(1400 - 5'000'000'000)});
}

TEST_CASE("a truncated memory file keeps its complete records") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  for (int i = 1; i <= 3; ++i) folder.host(prof::TaskMemory{.size = i});
  folder.finish();
  cut(host_slice(folder.folder(), prof::TaskMemory::kStem), 2 * 256 + 100);
  KindRun run(folder.folder(), kMemory);
  CHECK(run.rows("size_bytes", "memory_event ORDER BY id") == Texts{"1", "2"});
  REQUIRE(run.findings().size() == 1);
  CHECK(run.findings()[0].starts_with("PARTIAL task_memory_info: "));
}

TEST_CASE("the first record of a stream defines its logical stream") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  folder.host(prof::LogicStream{.logic = 5, .physical = {60, 61}});
  folder.host(prof::LogicStream{.logic = 6, .physical = {61, 62}});
  folder.host(prof::LogicStream{.logic = 7, .physical = {}});
  folder.host(prof::LogicStream{.logic = 8, .physical = {63}});
  folder.finish();
  overwrite(host_slice(folder.folder(), prof::LogicStream::kStem), 3 * 256 + 28,
            std::string_view("\x39\x00", 2));
  KindRun run(folder.folder(), {make_logic_stream_info_kind});
  CHECK(run.rows("stream_id, logic_stream_id", "logic_stream ORDER BY 1") ==
        Texts{"60|5", "61|5", "62|6"});
  CHECK(run.findings() == Texts{"PARTIAL logic_stream_info: more than 56 streams x1"});
}

TEST_CASE("mc2_comm_info has the stream of the kernel and the streams it drives") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  folder.host(prof::Mc2Comm{.group = folder.hash("g"),
                            .rank_size = 4,
                            .rank = 2,
                            .kfc_stream = 50,
                            .comm_streams = {51, 52}});
  folder.host(prof::Mc2Comm{.kfc_stream = 60, .comm_streams = {61}});
  folder.finish();
  overwrite(host_slice(folder.folder(), prof::Mc2Comm::kStem), 256 + 48,
            std::string_view("\xff\xff\xff\xff", 4));
  KindRun run(folder.folder(), {make_hash_dic_kind, make_mc2_comm_info_kind});
  CHECK(run.rows("text, rank_size, rank_id, stream_id, is_comm_stream",
                 "kfc_stream k JOIN name n ON n.id = group_name_id ORDER BY k.id") ==
        Texts{"g|4|2|50|0", "g|4|2|51|1", "g|4|2|52|1"});
  CHECK(run.findings() == Texts{"PARTIAL mc2_comm_info: more than 8 streams x1"});
}

TEST_CASE("the first record of expand_stream_spec defines whether stream ids are expanded") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  folder.host(prof::ExpandStream{.status = 1});
  folder.host(prof::ExpandStream{.status = 0});
  folder.finish();
  CHECK(KindRun(folder.folder(), {make_expand_stream_spec_kind}).import().are_streams_expanded);
  overwrite(host_slice(folder.folder(), prof::ExpandStream::kStem), 24, std::string_view("\0", 1));
  CHECK_FALSE(
      KindRun(folder.folder(), {make_expand_stream_spec_kind}).import().are_streams_expanded);
}
