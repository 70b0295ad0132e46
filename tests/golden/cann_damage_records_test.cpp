// Damaged records of a PROF folder: the smallest damaged unit is dropped and counted, and all
// intact records appear in the products.
#include <catch2/catch.hpp>

#include "golden/cann_damage.hpp"
#include "support/sample.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

struct Chip {
  bool is_stars;
  DamagedCapture capture;
  explicit Chip(bool stars)
      : is_stars(stars), capture(stars ? prof::ProfSetup() : prof::setup_910a()) {}
};

// Calls `check` for every record file of a 910B and of a 910A, with its bytes.
template <typename Check>
void for_each_file(Check&& check) {
  for (const bool is_stars : {true, false}) {
    const Chip chip(is_stars);
    REQUIRE_FALSE(chip.capture.whole().report.is_partial());
    for (const RecordFile& file : record_files(is_stars)) {
      const std::string bytes = chip.capture.bytes(file.file);
      INFO((is_stars ? "910B " : "910A ") << file.file);
      REQUIRE(bytes.size() >= file.size);
      REQUIRE(bytes.size() % file.size == 0);
      check(chip.capture, file, bytes);
    }
  }
}

// Checks that at most `records` rows of any product are missing, and that the file is reported as
// damaged.
void check_loss(const DamagedCapture& capture, const RecordFile& file, const DamageOutcome& outcome,
                std::size_t records) {
  INFO(capture.losses(outcome));
  CHECK(capture.worst_loss(outcome) <= records);
  CHECK(capture.worst_surplus(outcome) <= records);
  CHECK(outcome.report.is_partial());
  CHECK(outcome.count_damage(file.file) >= 1);
}

}  // namespace

TEST_CASE("a slice truncated at any field of its last record loses only that record") {
  for_each_file(
      [](const DamagedCapture& capture, const RecordFile& file, const std::string& bytes) {
        for (const std::size_t field : sample(file.fields, 3)) {
          if (field == 0) continue;  // a missing last record is undetectable
          INFO("cut at byte " << field << " of the last record");
          const auto cut = bytes.substr(0, bytes.size() - file.size + field);
          check_loss(capture, file, capture.import_with(file.file, cut), 1);
        }
      });
}

TEST_CASE("a slice that ends before its last records has all records before them") {
  for_each_file(
      [](const DamagedCapture& capture, const RecordFile& file, const std::string& bytes) {
        const std::size_t records = bytes.size() / file.size;
        const auto outcome =
            capture.import_with(file.file, bytes.substr(0, (records + 1) / 2 * file.size));
        INFO(capture.losses(outcome));
        CHECK(capture.worst_loss(outcome) <= records / 2);
      });
}

TEST_CASE("a record with a bad magic is skipped and counted once, and loses no other record") {
  for_each_file([](const DamagedCapture& capture, const RecordFile& file,
                   const std::string& bytes) {
    if (!file.has_magic) return;
    const std::size_t records = bytes.size() / file.size;
    // In the device's records the magic is the second field.
    const bool is_device = file.file.starts_with("device_0/data/stars");
    if (file.file.starts_with("device_0/data/ffts")) return;  // hardware does not always write it
    for (const std::size_t record : sample<std::size_t>({0, records / 2, records - 1}, 1)) {
      INFO("record " << record << " of " << records);
      const auto damaged = overwritten(bytes, record * file.size + (is_device ? 2 : 0), "\x11\x22");
      const auto outcome = capture.import_with(file.file, damaged);
      check_loss(capture, file, outcome, 1);
      CHECK(outcome.count_damage(file.file) == 1);
    }
  });
}

TEST_CASE("a byte lost or added anywhere loses only its record, and at most the next one") {
  for_each_file(
      [](const DamagedCapture& capture, const RecordFile& file, const std::string& bytes) {
        const std::size_t records = bytes.size() / file.size;
        if (records < 4) return;
        const std::vector<std::size_t> places = {7, records / 2 * file.size + 20,
                                                 (records - 1) * file.size + 9};
        for (const std::size_t at : sample(places, 1)) {
          INFO("at byte " << at << " of " << bytes.size());
          check_loss(capture, file, capture.import_with(file.file, without(bytes, at, 1)), 2);
          check_loss(capture, file, capture.import_with(file.file, with_extra(bytes, at)), 2);
        }
      });
}

TEST_CASE("zeros instead of records, a page or a whole file are counted") {
  for_each_file(
      [](const DamagedCapture& capture, const RecordFile& file, const std::string& bytes) {
        const std::size_t records = bytes.size() / file.size;
        if (!file.has_magic || records < 4 || file.file.find("ffts") != std::string::npos) return;
        const auto two = overwritten(bytes, file.size, std::string(2 * file.size, '\0'));
        const auto outcome = capture.import_with(file.file, two);
        check_loss(capture, file, outcome, 2);
        CHECK(outcome.count_damage(file.file) == 2);
        const auto none = capture.import_with(file.file, std::string(bytes.size(), '\0'));
        CHECK(none.report.is_partial());
        CHECK(none.count_damage(file.file) >= 1);
      });
}

TEST_CASE("a missing or empty file of any kind does not affect the products of the others") {
  // The products that depend on one file; all others must be complete.
  const std::map<std::string, std::vector<std::string>> own = {
      {"api_event", {"api_statistic", "op_summary", "counters", "fusion_op", "aicpu"}},
      {"node_basic_info", {"op_summary", "counters", "aicpu"}},
      {"task_track", {"op_summary", "counters", "aicpu"}},
      {"graph_id_map", {"fusion_op"}},
      {"fusion_op_info", {"fusion_op"}},
      {"msproftx", {"msprof_tx"}},
      {"task_memory_info", {"memory_record", "operator_memory"}},
      {"hccl_op_info", {"op_summary"}},
      {"hccl_info", {"op_summary"}},
      {"context_id_info", {"op_summary", "counters", "task_time"}},
      {"ts_track", {"step_trace"}},
      {"stars_soc", {"task_time", "op_summary", "counters", "aicpu"}},
      {"hwts", {"task_time", "op_summary", "counters"}},
      {"ffts_profile", {"counters"}},
      {"aicore", {"counters"}},
      {"aicpu", {"aicpu"}}};
  for_each_file([&](const DamagedCapture& capture, const RecordFile& file, const std::string&) {
    std::vector<std::string> may_miss;
    for (const auto& [stem, products] : own) {
      if (file.file.find("." + stem + ".") != std::string::npos ||
          file.file.find("/" + stem + ".") != std::string::npos) {
        may_miss = products;
      }
    }
    for (const auto& outcome :
         {capture.import_with(file.file, ""), capture.import_without(file.file)}) {
      INFO(capture.losses(outcome));
      for (const auto& [product, keys] : capture.whole().keys) {
        if (std::find(may_miss.begin(), may_miss.end(), product) != may_miss.end()) continue;
        INFO(product);
        CHECK(capture.lost(outcome, product) == 0);
      }
    }
  });
}
