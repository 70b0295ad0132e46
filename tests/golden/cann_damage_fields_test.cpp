// Impossible field values in the records of a PROF folder: counts, levels, types, times, numbers.
#include <algorithm>
#include <catch2/catch.hpp>

#include "golden/cann_damage.hpp"
#include "support/prof/prof_folder.hpp"
#include "support/sample.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

std::string u32(std::uint32_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string u64(std::uint64_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

TEST_CASE("an item count beyond the record's capacity loses only that record and is counted") {
  struct Count {
    std::string file;
    std::size_t at;
    std::uint32_t most;  // largest valid value
  };
  const DamagedCapture capture;
  for (const Count& count : {Count{kHost + "aging.additional.tensor_info.slice_0", 32, 5},
                             Count{kHost + "aging.additional.context_id_info.slice_0", 32, 55},
                             Count{kHost + "unaging.additional.fusion_op_info.slice_0", 32, 8},
                             Count{kDevice + "lpmFreqConv.data.0.slice_0", 0, 55}}) {
    const std::string bytes = capture.bytes(count.file);
    for (const std::uint32_t value : {count.most + 1, 1000u, 0x7fffffffu, 0xffffffffu}) {
      INFO(count.file << ": " << value);
      const auto outcome =
          capture.import_with(count.file, overwritten(bytes, count.at, u32(value)));
      INFO(capture.losses(outcome));
      CHECK(capture.worst_loss(outcome) <= 1);
      CHECK(capture.worst_surplus(outcome) <= 1);
      CHECK(outcome.report.is_partial());
      CHECK(outcome.count_damage(count.file) == 1);
    }
    INFO(count.file << ": none");
    const auto outcome = capture.import_with(count.file, overwritten(bytes, count.at, u32(0)));
    CHECK(capture.worst_loss(outcome) <= 1);
  }
}

TEST_CASE(
    "any value in any field of the first records loses no other record and does not stop the "
    "import") {
  for (const bool is_stars : {true, false}) {
    const DamagedCapture capture(is_stars ? prof::ProfSetup() : prof::setup_310p());
    for (RecordFile file : record_files(is_stars)) {
      const std::string bytes = capture.bytes(file.file);
      const bool may_name_another = file.file.find("task_track") != std::string::npos ||
                                    file.file.find("stars_soc") != std::string::npos ||
                                    file.file.find("hwts") != std::string::npos;
      // The fields use these values in rotation; scripts/soak damaged_captures tries all
      // combinations.
      constexpr char kFills[] = {'\0', '\xff', '\x7f'};
      std::size_t turn = 0;
      for (const std::size_t field : sample(file.fields, 3)) {
        const std::size_t width = std::min<std::size_t>(8, file.size - field);
        const char fill = kFills[turn++ % std::size(kFills)];
        INFO(file.file << " byte " << field << " filled with " << int{fill});
        const auto damaged = overwritten(bytes, field, std::string(width, fill));
        const auto outcome = capture.import_with(file.file, damaged);
        INFO(capture.losses(outcome));
        // A task that takes another task's number may hide that task, too.
        CHECK(capture.worst_loss(outcome) <= (may_name_another ? 2u : 1u));
      }
    }
  }
}

TEST_CASE("levels and types missing in the dictionary are shown as numbers, without loss") {
  const DamagedCapture capture;
  const std::string file = kHost + "aging.api_event.data.slice_0";
  const std::string bytes = capture.bytes(file);
  const auto type = capture.import_with(file, overwritten(bytes, 40 * 3 + 4, u32(987'654)));
  CHECK(capture.lost(type, "api_statistic") <= 1);
  std::uint64_t calls = 0;
  for (const auto& [product, keys] : type.keys) {
    if (product == "api_statistic") calls = keys.size();
  }
  CHECK(calls == capture.whole().keys.at("api_statistic").size());
}

TEST_CASE("a call that ends before its start, or at the maximum time, affects no other call") {
  const DamagedCapture capture;
  const std::string file = kHost + "aging.api_event.data.slice_0";
  const std::string bytes = capture.bytes(file);
  for (const std::uint64_t end :
       {std::uint64_t{1}, ~std::uint64_t{0} - 1, std::uint64_t{1} << 63}) {
    INFO("end " << end);
    const auto outcome = capture.import_with(file, overwritten(bytes, 40 * 5 + 24, u64(end)));
    INFO(capture.losses(outcome));
    CHECK(capture.lost(outcome, "task_time") == 0);
    CHECK(capture.lost(outcome, "api_statistic") <= 1);
    CHECK(capture.lost(outcome, "memory_record") == 0);
  }
}

TEST_CASE("a frequency of 0 counts as unknown") {
  const DamagedCapture capture;
  const std::string file = kDevice + "lpmFreqConv.data.0.slice_0";
  const auto outcome = capture.import_with(file, overwritten(capture.bytes(file), 8 + 8, u32(0)));
  CHECK(capture.worst_loss(outcome) == 0);
}

TEST_CASE("an impossible time loses only its record, and the verdict names the file") {
  const DamagedCapture capture;
  // The offset of each kind's time field; its third record is changed.
  struct Time {
    std::string file;
    std::size_t record_bytes, at;
  };
  for (const Time& time : {Time{kHost + "aging.additional.task_memory_info.slice_0", 256, 16},
                           Time{kHost + "aging.api_event.data.slice_0", 40, 16},
                           Time{kHost + "aging.compact.node_basic_info.slice_0", 64, 16},
                           Time{kHost + "aging.additional.msproftx.slice_0", 256, 64},
                           Time{kDevice + "ts_track.data.0.slice_0", 40, 8},
                           Time{kDevice + "stars_soc.data.0.slice_0", 64, 8},
                           Time{kDevice + "ffts_profile.data.0.slice_0", 128, 120},
                           Time{kDevice + "aicpu.data.0.slice_0", 256, 40}}) {
    const std::string bytes = capture.bytes(time.file);
    for (const std::uint64_t value : {std::uint64_t{1} << 62, std::uint64_t{1} << 63,
                                      ~std::uint64_t{0} >> 1, ~std::uint64_t{0} - 1}) {
      INFO(time.file << ": " << value);
      const auto outcome = capture.import_with(
          time.file, overwritten(bytes, 2 * time.record_bytes + time.at, u64(value)));
      INFO(capture.losses(outcome));
      CHECK(capture.worst_loss(outcome) <= 1);
      CHECK(outcome.report.is_partial());
      CHECK(outcome.count_damage(time.file) == 1);
    }
  }
}
