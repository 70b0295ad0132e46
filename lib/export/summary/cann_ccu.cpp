// ccu_mission and ccu_channel: what communication units executed, and the bandwidth of their
// channels. Source: cann_new_kinds.md 4.3.
#include <fmt/format.h>

#include "base/number.hpp"
#include "export/products.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

class CannCcuMission : public cann::CannTable {
 public:
  CannCcuMission()
      : CannTable({.name = "ccu_mission",
                   .title = "CCU missions",
                   .help = "loops of the communication units, and their waits for each rank",
                   .exists = "SELECT 1 FROM ccu_span",
                   .needs = {"ccu"},
                   .group = kEngineLayers},
                  {"Device_id", "Stream ID", "Task Id", "Instruction ID",
                   "Instruction Start Time(us)", "Instruction Duration(us)",
                   "Notify Instruction ID", "Notify Rank ID", "Notify Duration(us)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    const ScopeFilter scope(output_file.scope);
    Statement read = db.prepare(
        "SELECT device_id, start_ns, end_ns, stream_id, task_number, instruction_id, is_wait, 0,"
        " ccu_rank.rank, duration_ns FROM ccu_span"
        " LEFT JOIN ccu_rank ON ccu_span_id = ccu_span.id ORDER BY ccu_span.id, ccu_rank.id");
    while (read.step()) {
      const std::int64_t start = read.integer(1);
      if (!scope.takes(read.integer(0), start, read.integer(2))) continue;
      const bool is_wait = read.integer(6) != 0;
      for (const int cell : {0, 3, 4}) out.number(read.integer(cell));
      out.number(is_wait ? 0 : read.integer(5));
      // The vendor's table has a meaningless time here: that of counter value 0.
      is_wait ? out.missing() : cann::us_timestamp(out, start);
      is_wait ? out.missing()
              : out.timestamp(cann::float3(saturating_subtract(read.integer(2), start), 1000));
      out.number(is_wait ? read.integer(5) : 0);
      out.number(is_wait ? read.maybe_integer(8).value_or(0) : 0);
      out.timestamp(cann::float3(is_wait ? read.maybe_integer(9).value_or(0) : 0, 1000));
      out.end_row();
    }
  }
};

class CannCcuChannel : public cann::CannTable {
 public:
  CannCcuChannel()
      : CannTable({.name = "ccu_channel",
                   .title = "CCU channels",
                   .help = "bandwidth of the channels of the communication units",
                   .exists = "SELECT 1 FROM ccu_channel",
                   .needs = {"ccu"},
                   .group = kEngineLayers},
                  {"Device_id", "Channel Id", "Timestamp(us)", "Max Bandwidth(MB/s)",
                   "Min Bandwidth(MB/s)", "Avg Bandwidth(MB/s)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    const ScopeFilter scope(output_file.scope);
    Statement read = db.prepare(
        "SELECT device_id, time_ns, channel, min_delay_ps, max_delay_ps, mean_delay_ps"
        " FROM ccu_channel ORDER BY id");
    while (read.step()) {
      if (!scope.takes(read.integer(0), read.integer(1), read.integer(1))) continue;
      out.number(read.integer(0));
      out.number(read.integer(2));
      cann::us_timestamp(out, read.integer(1));
      for (const int cell : {3, 4, 5}) out.number(bandwidth(read.integer(cell)));
      out.end_row();
    }
  }

 private:
  // Converts the time for 4096 bytes to MB/s.
  static std::string bandwidth(std::int64_t delay_ps) {
    if (delay_ps <= 0) return "0";
    constexpr int128 kPsPerSecond = 1'000'000'000'000;
    constexpr int128 kMegabyte = 1048576;
    return cann::float3(4096 * kPsPerSecond, delay_ps * kMegabyte);
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_ccu_mission() {
  return std::make_unique<CannCcuMission>();
}

std::unique_ptr<SummaryTable> make_cann_ccu_channel() {
  return std::make_unique<CannCcuChannel>();
}

}  // namespace msprof
