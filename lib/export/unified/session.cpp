// Tables about the whole capture: META_DATA, HOST_INFO, NPU_INFO, RANK_DEVICE_MAP,
// SESSION_TIME_INFO. Source: cann_host.md 2.6.
#include <fmt/format.h>

#include "export/unified/unified_writer.hpp"
#include "session/cann_info.hpp"
#include "store/schema.hpp"

namespace msprof::unified {

namespace {

constexpr UnifiedTable kSessionTime{"SESSION_TIME_INFO", "startTimeNs INTEGER, endTimeNs INTEGER"};
constexpr UnifiedTable kRankDevices{"RANK_DEVICE_MAP", "rankId INTEGER, deviceId INTEGER"};

constexpr std::string_view kUnknown = "UNKNOWN";

void write_schema_version(UnifiedWriter& out) {
  Database& target = out.target();
  target.execute("CREATE TABLE META_DATA (name TEXT, value TEXT)");
  const char minor = out.has_cann8_names() ? '0' : '2';
  target.execute(
      fmt::format("INSERT INTO META_DATA VALUES('SCHEMA_VERSION','1.{0}.0'),"
                  " ('SCHEMA_VERSION_MAJOR','1'), ('SCHEMA_VERSION_MINOR','{0}'),"
                  " ('SCHEMA_VERSION_MICRO','0')",
                  minor));
}

void write_host(UnifiedWriter& out) {
  Database& target = out.target();
  target.execute("CREATE TABLE HOST_INFO (hostUid TEXT, hostName TEXT)");
  Statement insert = target.prepare("INSERT INTO HOST_INFO VALUES(?,?)");
  const std::string uid = read_meta(out.store(), "host.uid");
  insert.bind(1, uid).bind(2, read_meta(out.store(), "host.hostname")).run();
}

std::string_view npu_name(const Statement& device) {
  if (device.text(2) == cann::kHostRuntime) return cann::kHostRuntime;
  if (device.is_null(1) || device.integer(1) < 0 || device.integer(1) > INT32_MAX) return kUnknown;
  const auto chip = cann::find_chip(static_cast<int>(device.integer(1)));
  return chip ? chip->product_name : kUnknown;
}

void write_devices(UnifiedWriter& out) {
  out.target().execute("CREATE TABLE NPU_INFO (id INTEGER, name TEXT)");
  Statement insert = out.target().prepare("INSERT INTO NPU_INFO VALUES(?,?)");
  Statement read = out.store().prepare(
      "SELECT id, platform, (SELECT text FROM name WHERE id = chip_name_id) FROM device ORDER BY "
      "id");
  UnifiedRows ranks(out, kRankDevices);
  const std::int64_t rank = read_meta_integer(out.store(), "host.rank").value_or(kNoValue);
  bool has_device = false;
  while (read.step()) {
    out.target();
    insert.bind(1, read.integer(0)).bind(2, npu_name(read)).run();
    ranks.add({rank, read.integer(0)});
    has_device = true;
  }
  if (!has_device) insert.bind(1, kNoValue).bind(2, kUnknown).run();
}

}  // namespace

void write_session(UnifiedWriter& out) {
  write_schema_version(out);
  write_host(out);
  write_devices(out);
  const auto begin = read_meta_integer(out.store(), "window.begin_ns");
  const auto end = read_meta_integer(out.store(), "window.end_ns");
  if (begin && end) UnifiedRows(out, kSessionTime).add({*begin, *end});
}

}  // namespace msprof::unified
