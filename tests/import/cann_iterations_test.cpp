#include <catch2/catch.hpp>

#include "derive/passes.hpp"
#include "store/trace_db_writer.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

constexpr std::int64_t kHz = 50'000'000;
constexpr std::int64_t kNsPerTick = 20;

struct Mark {
  std::int64_t ticks;
  std::int64_t model;
  std::int64_t index;
  std::int64_t tag;
  std::int64_t stream = 2;
};

// A store with the marks of device 0 and its derived iterations.
class Steps {
 public:
  explicit Steps(const std::vector<Mark>& marks) : writer_(folder_ / "msprof.db") {
    DeviceRow device;
    device.tick_frequency_hz = kHz;
    writer_.add(device);
    add(0, marks);
  }
  void add(std::int64_t device, const std::vector<Mark>& marks) {
    for (const Mark& mark : marks) {
      writer_.add(StepMarkRow{++id_, device, mark.index, mark.model, mark.ticks,
                              mark.ticks * kNsPerTick, mark.tag, mark.stream, 0});
    }
  }

  std::vector<std::string> rows(const std::string& sql) {
    if (!derived_) derive_iterations(writer_);
    derived_ = true;
    std::vector<std::string> result;
    Statement read = writer_.readable().prepare(sql);
    while (read.step()) result.emplace_back(read.text(0));
    return result;
  }
  // "number model fp bp end duration fp_bp refresh data_aug", in ticks and ns.
  std::vector<std::string> iterations() {
    return rows(
        "SELECT number||' '||model_number||' '||ifnull((fp_start_ns/20),'-')||' '||"
        "ifnull(bp_end_ns/20,'-')||' '||(end_ns/20)||' '||duration_ns||' '||fp_bp_ns||' '||"
        "refresh_ns||' '||data_aug_ns FROM iteration ORDER BY id");
  }
  // "iteration start end" of the all-reduces, or with `get_next` of the get-nexts.
  std::vector<std::string> parts(bool get_next) {
    return rows(std::string("SELECT iteration_id||' '||(start_ns/20)||' '||(end_ns/20) FROM "
                            "iteration_part WHERE is_get_next = ") +
                (get_next ? "1" : "0") + " ORDER BY id");
  }

 private:
  TempFolder folder_;
  TraceDbWriter writer_;
  std::int64_t id_ = 0;
  bool derived_ = false;
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("iterations of several models, with reduces, framework steps and no passes") {
  // Marks of a real capture whose step table is known.
  Steps steps({
      {315838, 1, 1, 0},          {315840, 1, 1, 20000},      {315843, 1, 1, 20001},
      {319449, 1, 1, 2},          {320192, 1, 1, 10000},      {320194, 1, 1, 10001},
      {320511, 1, 1, 3},          {320513, 1, 1, 4},          {320516, 1, 1, 1},
      {341734, 1, 2, 0},          {341736, 1, 2, 20000},      {341739, 1, 2, 20001},
      {346256, 1, 2, 2},          {346929, 1, 2, 10000},      {346931, 1, 2, 10001},
      {347170, 1, 2, 3},          {347172, 1, 2, 4},          {347175, 1, 2, 1},
      {366742, 5, 1, 0},          {366747, 5, 1, 10000},      {366752, 5, 1, 10001},
      {366757, 5, 1, 10000},      {366762, 5, 1, 10001},      {366767, 5, 1, 4},
      {366772, 5, 1, 1},          {366792, 5, 2, 0},          {366794, 5, 2, 2},
      {366797, 5, 2, 10000},      {366802, 5, 2, 10001},      {366807, 5, 2, 3},
      {366808, 5, 2, 20000},      {366812, 5, 2, 4},          {366817, 5, 3, 2},
      {366822, 5, 3, 3},          {366827, 5, 3, 4},          {366832, 5, 3, 1},
      {366842, 5, 4, 60000},      {366867, 5, 4, 60001},      {366892, 4294967295, 1, 0},
      {366897, 4294967295, 1, 2}, {366902, 4294967295, 1, 3}, {366907, 4294967295, 1, 4},
      {366912, 4294967295, 1, 1},
  });
  CHECK(steps.iterations() == Texts{
                                  "1 1 319449 320511 320513 93500 21240 40 0",
                                  "2 1 346256 347170 347172 108760 18280 40 514860",
                                  "1 5 - - 366767 500 0 0 0",
                                  "2 5 366794 366807 366812 400 260 100 540",
                                  "3 5 366817 366822 366827 300 100 100 100",
                                  "4 5 - - 366867 500 0 0 0",
                                  "1 4294967295 366897 366902 366907 300 100 100 600",
                              });
  CHECK(steps.parts(false) == Texts{"1 320192 320194", "2 346929 346931", "3 366747 366752",
                                    "3 366757 366762", "4 366797 366802"});
  CHECK(steps.parts(true) == Texts{"1 315840 315843", "2 341736 341739"});
  CHECK(steps.rows("SELECT number||' '||is_framework_step FROM iteration WHERE start_ns/20 > "
                   "366826 ORDER BY id") == Texts{"4 1", "1 0"});
}

TEST_CASE("iterations that overlap keep their own marks") {
  Steps steps({
      {97866, 1, 3, 0, 2},
      {97868, 1, 3, 20000, 2},
      {97871, 1, 3, 20001, 2},
      {99634, 1, 3, 2, 2},
      {120731, 1, 4, 0, 4},
      {120733, 1, 4, 20000, 4},
      {120736, 1, 4, 20001, 4},
      {122658, 1, 4, 2, 4},
      {131835, 1, 3, 10000, 2},
      {131837, 1, 3, 10001, 2},
      {131950, 1, 3, 3, 2},
      {131952, 1, 3, 4, 2},
      {131955, 1, 3, 1, 2},
      {151951, 1, 4, 10000, 4},
      {151953, 1, 4, 10001, 4},
      {152075, 1, 4, 3, 4},
      {152077, 1, 4, 4, 4},
      {152080, 1, 4, 1, 4},
  });
  CHECK(steps.iterations() == Texts{"1 1 99634 131950 131952 681720 646320 40 0",
                                    "2 1 122658 152075 152077 626920 588340 40 0"});
  CHECK(steps.parts(false) == Texts{"1 131835 131837", "2 151951 151953"});
  CHECK(steps.parts(true) == Texts{"1 97868 97871", "2 120733 120736"});
}

TEST_CASE("marks in any order, or repeated, make the same iterations") {
  const std::vector<Mark> marks{
      {10, 1, 1, 0}, {20, 1, 1, 2}, {30, 1, 1, 3}, {40, 1, 1, 4}, {50, 1, 1, 1}};
  std::vector<Mark> shuffled(marks.rbegin(), marks.rend());
  shuffled.insert(shuffled.end(), marks.begin(), marks.end());
  CHECK(Steps(shuffled).iterations() == Texts{"1 1 20 30 40 600 200 200 0"});
}

TEST_CASE("several iterations of one model run follow each other without a gap") {
  Steps steps({{10, 1, 1, 0},
               {20, 1, 1, 4},
               {22, 1, 1, 10000},
               {25, 1, 1, 10001},
               {35, 1, 1, 4},
               {36, 1, 1, 1},
               {90, 1, 2, 0},
               {99, 1, 2, 1}});
  CHECK(steps.rows(
            "SELECT number||' '||(start_ns/20)||' '||(end_ns/20) FROM iteration ORDER BY id") ==
        Texts{"1 10 20", "2 20 35", "3 90 99"});
  CHECK(steps.parts(false) == Texts{"2 22 25"});
}

TEST_CASE("a run that starts or ends in the middle of an iteration has only the complete ones") {
  Steps steps({{5, 1, 1, 3},
               {6, 1, 1, 4},
               {7, 1, 1, 1},
               {10, 1, 2, 0},
               {20, 1, 2, 2},
               {30, 1, 2, 3},
               {40, 1, 2, 4},
               {50, 1, 2, 1},
               {60, 1, 3, 0},
               {70, 1, 3, 2}});
  CHECK(steps.iterations() == Texts{"1 1 20 30 40 600 200 200 0"});
}

TEST_CASE("a framework step needs one start and one end, in this order") {
  Steps steps({{10, 1, 1, 60000},
               {20, 1, 2, 60001},
               {21, 1, 3, 60001},
               {22, 1, 3, 60000},
               {30, 1, 4, 60000},
               {35, 1, 4, 60001},
               {40, 2, 4, 60000},
               {47, 2, 4, 60001}});
  CHECK(
      steps.rows("SELECT number||' '||model_number||' '||duration_ns FROM iteration ORDER BY id") ==
      Texts{"4 1 100", "4 2 140"});
}

TEST_CASE("marks of the application and unknown tags create no iteration") {
  Steps steps({{1, 1, 7, 11}, {2, 1, 7, 12}, {3, 1, 7, 500}, {4, 1, 7, 65535}, {5, 1, 7, 9}});
  CHECK(steps.iterations().empty());
}

TEST_CASE("every device has separate iterations, in the order of the devices") {
  Steps steps({{10, 1, 1, 0}, {20, 1, 1, 4}, {21, 1, 1, 1}});
  steps.add(1, {{1, 1, 1, 0}, {2, 1, 1, 2}, {4, 1, 1, 4}, {5, 1, 1, 1}});
  CHECK(steps.rows("SELECT id||' '||device_id||' '||number||' '||duration_ns FROM iteration "
                   "ORDER BY id") == Texts{"1 0 1 200", "2 1 1 0"});
}

TEST_CASE("a thousand starts without an end are processed quickly and create no iteration") {
  std::vector<Mark> marks;
  for (std::int64_t i = 0; i < 100'000; ++i) marks.push_back({10 + i, 1, i, 0});
  Steps steps(marks);
  CHECK(steps.iterations().empty());
}

TEST_CASE("allocations of an operator are paired with their releases") {
  const TempFolder folder;
  TraceDbWriter writer(folder / "msprof.db");
  writer.set_meta("host.frequency_hz", "100000000");
  std::int64_t id = 0;
  const auto event = [&](std::int64_t name, std::int64_t address, std::int64_t device,
                         std::int64_t size, std::int64_t count) {
    MemoryEventRow row;
    row.id = ++id;
    row.name_hash = name;
    row.address = address;
    row.device_id = device;
    row.size_bytes = size;
    row.host_count = count;
    writer.add(row);
  };
  event(1, 16, 0, 100, 1000);   // 1
  event(2, 16, 0, 100, 1001);   // 2: never released
  event(1, 16, 1, 100, 1002);   // 3: another device
  event(1, 32, 0, 100, 1003);   // 4: never released
  event(1, 16, 0, 0, 1004);     // 5: neither allocates nor releases
  event(1, 16, 1, -100, 1013);  // 6: releases 3
  event(1, 16, 0, -100, 2044);  // 7: releases 1
  event(1, 16, 0, -100, 2045);  // 8: releases nothing
  event(3, 16, 0, 100, 2046);   // 9: lost because of 10
  event(3, 16, 0, 200, 2047);   // 10
  event(3, 16, 0, -200, 2048);  // 11: releases 10
  derive_memory_blocks(writer);
  Texts rows;
  Statement read = writer.readable().prepare(
      "SELECT allocation_id||' '||ifnull(release_id,'-')||' '||ifnull(duration_ns,'-') FROM "
      "memory_block ORDER BY id");
  while (read.step()) rows.emplace_back(read.text(0));
  CHECK(rows == Texts{"3 6 110", "1 7 10440", "10 11 10", "2 - -", "4 - -"});
}
