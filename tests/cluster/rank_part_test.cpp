// The summary of one capture: a hand-made rank with numbers calculated by hand, and a generated run
// compared with its own data.
#include <catch2/catch.hpp>

#include "cluster/part_rows.hpp"
#include "support/face_session.hpp"
#include "support/job_builder.hpp"
#include "support/prof/prof_run.hpp"
#include "support/prof/prof_scene.hpp"
#include "support/ranks/rank_folder.hpp"
#include "support/ranks/rank_part_file.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;
namespace fs = std::filesystem;

namespace {

using PartLines = std::vector<std::string>;

constexpr std::uint32_t kRankThread = 10000;
constexpr std::uint32_t kHcomReceive = 0x20005;
// Start of the collection, 2023-11-14 22:13:20, without its last six digits.
const std::string kBeginMs = "1700000000000";

RunResult make_part(const fs::path& capture, const fs::path& part, PartLines more = {}) {
  PartLines words = {"rank", "-q", "-dir", capture.string(), "--output", part.string()};
  words.insert(words.end(), more.begin(), more.end());
  return run_msprof(words);
}

// A task of a collective, in microseconds.
CommStep comm_step(const char* item, std::uint64_t start, std::uint64_t end,
                   std::uint32_t local_rank, std::uint32_t rank_size) {
  static std::uint16_t next_task = 0;
  CommStep step;
  step.item = item;
  const std::string_view name = item;
  step.task_type = name == "Notify_Wait" ? kNotifyWait
                   : name == "RDMASend"  ? kRdmaSend
                                         : kMemcpyAsync;
  step.device = {9, next_task++, start * 1000, end * 1000, 0};
  step.local_rank = local_rank;
  step.rank_size = rank_size;
  step.remote_rank = ~std::uint32_t{0};
  step.link = step.transport = 255;
  return step;
}

CommStep over(CommStep step, std::uint32_t remote, std::uint32_t link, std::uint32_t transport,
              std::uint64_t size) {
  step.remote_rank = remote;
  step.link = link;
  step.transport = transport;
  step.size = size;
  if (step.task_type == kRdmaSend) step.rdma = size > 0 ? 1 : 0;
  return step;
}

// Two steps, [100, 200) and [200, 300) us, of rank 3 of 4.
class HandMadeRank {
 public:
  explicit HandMadeRank(const fs::path& parent, ProfSetup setup = {})
      : prof_(parent, with_rank(std::move(setup))), scene_(prof_) {
    prof_.set_type(kNode, kHcomReceive, "hcom_receive_");
    prof_.set_type(kRuntime, kRdmaSend, "RDMA_SEND");
    kernel(110, 120);
    all_reduce({
        comm_step("Notify_Wait", 130, 132, 3, 4),
        over(comm_step("Memcpy", 132, 140, 3, 4), 1, 1, 0, 1000),
        over(comm_step("Memcpy", 140, 141, 3, 4), 3, 0, 2, 64),  // transfer within the device
        over(comm_step("Reduce_Inline", 141, 151, 3, 4), 2, 1, 0, 2000),
        comm_step("Notify_Wait", 151, 156, 3, 4),
        beside(over(comm_step("Memcpy", 133, 137, 3, 4), 1, 1, 0, 1000)),
    });
    kernel(150, 170);
    receive();
    kernel(235, 260);
    all_reduce({
        over(comm_step("RDMASend", 265, 266, 3, 4), 0, 3, 1, 3000),
        over(comm_step("RDMASend", 266, 267, 3, 4), 0, 3, 1, 1000),
        over(comm_step("RDMASend", 267, 268, 3, 4), 0, 3, 1, 0),
        comm_step("Notify_Wait", 268, 270, 3, 4),
        over(comm_step("RDMASend", 270, 271, 3, 4), 0, 3, 1, 0),
        comm_step("Notify_Wait", 271, 273, 3, 4),
    });
    // The task that would end the transfer is missing.
    all_reduce({
        over(comm_step("RDMASend", 280, 281, 3, 4), 0, 3, 1, 700),
        comm_step("Notify_Wait", 281, 284, 3, 4),
    });
    kernel(310, 312);
    for (const auto& [ns, tag, index] :
         {std::tuple(100'000u, 60000, 7), std::tuple(200'000u, 60001, 7),
          std::tuple(200'000u, 60000, 8), std::tuple(300'000u, 60001, 8)}) {
      scene_.step(0, ns, static_cast<std::uint16_t>(tag), static_cast<std::uint64_t>(index), 1, 2);
    }
    prof_.device(0, LpmFreq{{{prof_.setup().ticks_at(0), 1500},
                             {prof_.setup().ticks_at(100'000), 800},
                             {prof_.setup().ticks_at(200'000), 1800}}});
    scene_.memory(kRankThread, 90'000, "MatMul", 0x1000, 512, 512);
    prof_.finish();
  }

  const fs::path& folder() const { return prof_.folder(); }

 private:
  static ProfSetup with_rank(ProfSetup setup) {
    setup.info.try_emplace("rank_id", "3");
    setup.info.try_emplace("hostUid", "\"4711\"");
    return setup;
  }

  static CommStep beside(CommStep step) {
    step.plane = 1;
    step.is_master = false;
    step.device.stream = 10;
    return step;
  }

  void kernel(std::uint64_t start, std::uint64_t end) {
    OpKind op;
    op.name = "MatMul";
    op.type = "MatMulV2";
    scene_.launch(op, {kRankThread, now_, now_ + 1000},
                  {2, next_task_++, start * 1000, end * 1000, 0});
    now_ += 1200;
  }

  void all_reduce(std::vector<CommStep> steps) {
    Collective op;
    op.name = "hcom_allReduce__" + std::to_string(now_);
    op.group = "group_a";
    op.steps = std::move(steps);
    now_ = scene_.collective(op, kRankThread, now_) + 200;
  }

  void receive() {
    Collective op;
    op.name = op.type = "hcom_receive_";
    op.group = "group_b";
    op.call = kHcomReceive;
    op.steps = {comm_step("Notify_Wait", 210, 230, 0, 2),
                over(comm_step("RDMASend", 230, 231, 0, 2), 1, 3, 1, 512),
                over(comm_step("RDMASend", 231, 232, 0, 2), 1, 3, 1, 0),
                comm_step("Notify_Wait", 232, 240, 0, 2)};
    now_ = scene_.collective(op, kRankThread, now_) + 200;
  }

  ProfFolder prof_;
  ProfScene scene_;
  std::uint64_t now_ = 10'000;
  std::uint16_t next_task_ = 0;
};

}  // namespace

TEST_CASE("steps of a rank have separate sums of its activities") {
  const TempFolder folder;
  const HandMadeRank rank(folder.path());
  REQUIRE(make_part(rank.folder(), folder / "a.part").exit_code == 0);
  // Columns: step, member, start, duration; computing, communication, not overlapped, free;
  // receiving, its part that is not overlapped; preparing.
  CHECK(part_rows(folder / "a.part", "rank_step") ==
        PartLines{"NULL|1|" + kBeginMs + "300000|12000|2000|0|0|10000|0|0|0",
                  "7|1|" + kBeginMs + "100000|100000|30000|26000|20000|50000|0|0|10000",
                  "8|1|" + kBeginMs + "200000|100000|25000|42000|37000|38000|30000|25000|10000"});
}

TEST_CASE("a collective's time is waiting and transfers, over SDMA and over RDMA") {
  const TempFolder folder;
  const HandMadeRank rank(folder.path());
  REQUIRE(make_part(rank.folder(), folder / "a.part").exit_code == 0);
  const fs::path part = folder / "a.part";
  // Columns: start, duration, wait, wait before the first transfer, transit, bytes.
  CHECK(
      part_rows(part, "rank_collective") ==
      PartLines{"7|group_a|hcom_allReduce_|0|1|" + kBeginMs + "130000|26000|7000|2000|18000|4000",
                // Two payloads with one end task share 8000 ns.
                "8|group_a|hcom_allReduce_|0|1|" + kBeginMs + "265000|8000|0|0|8000|4000",
                // A payload without an end task has its own duration.
                "8|group_a|hcom_allReduce_|1|1|" + kBeginMs + "280000|4000|3000|0|1000|700",
                "8|group_b|hcom_receive_|0|1|" + kBeginMs + "210000|30000|20000|20000|10000|512"});
  // Columns: link, transport, size, count, duration.
  CHECK(part_rows(part, "packet") == PartLines{"7|group_a|hcom_allReduce_|0|1|1|0|1000|2|12000",
                                               "7|group_a|hcom_allReduce_|0|1|1|0|2000|1|10000",
                                               "8|group_a|hcom_allReduce_|0|1|3|1|1000|1|2000",
                                               "8|group_a|hcom_allReduce_|0|1|3|1|3000|1|6000",
                                               "8|group_a|hcom_allReduce_|1|1|3|1|700|1|1000",
                                               "8|group_b|hcom_receive_|0|1|3|1|512|1|10000"});
  // Columns: source, target, link, transport, size class; count, bytes, duration. 1000 and 700
  // bytes are in one class, which starts at 512.
  CHECK(part_rows(part, "link") == PartLines{"7|group_a|hcom_allReduce_|1|3|1|1|0|9|2|2000|12000",
                                             "7|group_a|hcom_allReduce_|1|3|2|1|0|10|1|2000|10000",
                                             "7|group_a|hcom_allReduce_|1|3|3|0|2|6|1|64|1000",
                                             "8|group_a|hcom_allReduce_|1|3|0|3|1|9|2|1700|3000",
                                             "8|group_a|hcom_allReduce_|1|3|0|3|1|11|1|3000|6000",
                                             "8|group_b|hcom_receive_|1|0|1|3|1|9|1|512|10000"});
  CHECK(part_rows(part, "group_member") == PartLines{"group_a|1|3|4", "group_b|1|0|2"});
}

TEST_CASE("a rank has its identity and sums of its operators") {
  const TempFolder folder;
  const HandMadeRank rank(folder.path());
  REQUIRE(make_part(rank.folder(), folder / "a.part").exit_code == 0);
  const fs::path part = folder / "a.part";
  // Columns: rank, host, its name, device, capture, chip, verdict; modelled; start, end; clocks;
  // tasks; lowest and highest frequency; peak memory.
  CHECK(part_rows(part, "member") ==
        PartLines{"3|4711|worker-1|0|" + std::string(kProfName) +
                  "|Ascend910B|0|complete|0|1700000000000000000|1700000010000000000|100000000|"
                  "50000000|22|800|1800|8589934592"});
  // Four runs of 10, 20, 25 and 2 us: the squares are 100 + 400 + 625 + 4.
  CHECK(part_rows(part, "op_total") ==
        PartLines{"MatMul|MatMulV2|AI_CORE|4|57000|0|1129000000|2000|1|25000|1|" +
                  query(part, "SELECT bins FROM op_total").front()});
  CHECK(query(part,
              "SELECT count(*) FROM rank_collective UNION ALL SELECT count(*) FROM "
              "collective_total UNION ALL SELECT count(*) FROM collective UNION ALL SELECT "
              "count(*) FROM collective_host") == PartLines{"4", "0", "0", "0"});
}

TEST_CASE("a part of a generated rank equals the generated events") {
  ranks::ClusterShape shape;
  shape.ranks_per_host = 4;
  shape.steps = 3;
  shape.collectives = 12;
  shape.tasks = 900;
  shape.is_parallel = true;
  shape.compute_ns = 4000 * ranks::kernels_before_collective(shape);
  shape.faults.slow_rank = 6;
  shape.faults.late_host = 1;
  shape.faults.offset_us = 1234;
  const ranks::ClusterRun run(shape);
  const TempFolder folder;
  for (const std::int64_t rank : {1, 6}) {
    const fs::path capture = ranks::write_rank_folder(folder.path(), run, rank);
    ranks::write_rank_part_file(folder / "expected.part", run, rank);
    REQUIRE(make_part(capture, folder / "found.part").exit_code == 0);
    for (const char* table : {"rank_step", "rank_collective", "packet", "link", "group_member"}) {
      INFO("rank " << rank << ", " << table);
      const PartLines expected = part_rows(folder / "expected.part", table);
      CHECK(expected.size() > 2);
      CHECK(part_rows(folder / "found.part", table) == expected);
    }
    for (const char* column : {"rank", "host_name_id", "hostname_name_id", "device_id",
                               "capture_name_id", "chip_name_id", "verdict", "verdict_text_name_id",
                               "begin_ns", "end_ns", "host_frequency_hz", "tick_frequency_hz",
                               "min_frequency_mhz", "max_frequency_mhz", "memory_peak_bytes"}) {
      INFO(column);
      std::string sql = std::string("SELECT ") + column + " FROM member";
      if (std::string_view(column).ends_with("_name_id"))
        sql = "SELECT text FROM name WHERE id = (" + sql + ")";
      CHECK(query(folder / "found.part", sql) == query(folder / "expected.part", sql));
    }
  }
}

TEST_CASE("a capture gives the same bytes whether already imported or not") {
  const TempFolder folder;
  const HandMadeRank rank(folder.path());
  REQUIRE(make_part(rank.folder(), folder / "a.part").exit_code == 0);
  REQUIRE(make_part(rank.folder(), folder / "b.part").exit_code == 0);
  fs::remove_all(rank.folder() / "sqlite");
  REQUIRE(make_part(rank.folder(), folder / "c.part", {"--store", (folder / "store").string()})
              .exit_code == 0);
  const std::string bytes = read_file(folder / "a.part");
  CHECK(read_file(folder / "b.part") == bytes);
  CHECK(read_file(folder / "c.part") == bytes);
  CHECK_FALSE(fs::exists(rank.folder() / "sqlite"));
}

TEST_CASE("the part of a million tasks has at most 4 MB, as far as a small run can tell") {
  const TempFolder folder;
  std::uintmax_t bytes[2] = {};
  for (const std::size_t i : {0u, 1u}) {
    RunShape shape;
    shape.tasks = i == 0 ? 2000 : 12'000;
    const fs::path capture = make_run(folder / std::to_string(i), {}, shape).folder;
    REQUIRE(make_part(capture, folder / "a.part").exit_code == 0);
    CHECK(query(folder / "a.part", "SELECT count(*) > 10 FROM rank_collective") == PartLines{"1"});
    bytes[i] = fs::file_size(folder / "a.part");
  }
  CHECK(bytes[0] + (bytes[1] - bytes[0]) * 100 < 4'000'000);
}

TEST_CASE("a rank missing in the capture is given by --rank or stays unknown") {
  const TempFolder folder;
  ProfSetup setup;
  setup.info["rank_id"] = "-1";
  const HandMadeRank rank(folder.path(), setup);
  const std::string rank_of = "SELECT rank FROM member";
  REQUIRE(make_part(rank.folder(), folder / "a.part").exit_code == 0);
  CHECK(query(folder / "a.part", rank_of) == PartLines{"NULL"});
  REQUIRE(make_part(rank.folder(), folder / "a.part", {"--rank", "9999"}).exit_code == 0);
  CHECK(query(folder / "a.part", rank_of) == PartLines{"9999"});
  const RunResult refused = make_part(rank.folder(), folder / "b.part", {"--rank", "10000000"});
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.find("--rank: expected 0 to 9999999") != std::string::npos);
  CHECK_FALSE(fs::exists(folder / "b.part"));
}

TEST_CASE("a capture of two devices has two unknown ranks") {
  const TempFolder folder;
  ProfSetup setup;
  setup.devices = {0, 1};
  RunShape shape;
  shape.tasks = 200;
  const fs::path capture = make_run(folder.path(), setup, shape).folder;
  REQUIRE(make_part(capture, folder / "a.part").exit_code == 0);
  CHECK(query(folder / "a.part", "SELECT rank, device_id, task_count > 50 FROM member") ==
        PartLines{"NULL|0|1", "NULL|1|1"});
  const RunResult refused = make_part(capture, folder / "b.part", {"--rank", "1"});
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.find("has 2 devices, which cannot all be rank 1") != std::string::npos);
}

TEST_CASE("a damaged capture gives a part marked as partial, and one without ranks gives none") {
  const TempFolder folder;
  const HandMadeRank rank(folder.path());
  const fs::path logs = rank.folder() / "device_0" / "data" / "stars_soc.data.0.slice_0";
  std::string bytes = read_file(logs);
  bytes[64 * 3 + 2] = 0;  // the magic number of a log
  write_file(logs, bytes);
  const RunResult partial = make_part(rank.folder(), folder / "a.part");
  INFO(partial.err);
  CHECK(partial.exit_code == 3);
  CHECK(query(folder / "a.part", "SELECT verdict FROM member") == PartLines{"2"});
  CHECK(query(folder / "a.part",
              "SELECT text FROM name JOIN member ON name.id = "
              "verdict_text_name_id")
            .front() != "complete");

  JobBuilder job(folder.path());
  add_face(job);
  const RunResult board = make_part(job.folder(), folder / "b.part");
  CHECK(board.exit_code == 4);
  CHECK(board.err.find("is not a capture of an Atlas machine and has no ranks") !=
        std::string::npos);
  CHECK_FALSE(fs::exists(folder / "b.part"));
}
