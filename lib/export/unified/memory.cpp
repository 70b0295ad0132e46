// Tables of counters and memory: NPU_OP_MEM, AICORE_FREQ, OVERLAP_ANALYSIS.
// Source: cann_host.md 1.7.2, 2.6 (memory), cann_device.md 25.3.
#include <fmt/format.h>

#include "export/unified/unified_writer.hpp"

namespace msprof::unified {

namespace {

constexpr UnifiedTable kMemory{
    "NPU_OP_MEM",
    "operatorName STRING, addr INTEGER, type STRING, size INTEGER, timestampNs INTEGER,"
    " globalTid INTEGER, totalAllocate NUMERIC, totalReserve NUMERIC, component STRING,"
    " deviceId INTEGER"};
constexpr UnifiedTable kFrequency{
    "AICORE_FREQ", "deviceId INTEGER, timestampNs NUMERIC, freq INTEGER, dieId NUMERIC"};
constexpr UnifiedTable kOverlap{
    "OVERLAP_ANALYSIS",
    "id INTEGER PRIMARY KEY, deviceId INTEGER, startNs NUMERIC, endNs NUMERIC, type INTEGER"};

}  // namespace

void write_memory(UnifiedWriter& out) {
  UnifiedRows rows(out, kMemory);
  const std::int64_t component = out.text("GE");
  Statement read = out.store().prepare(
      "SELECT name_id, name_hash, address, size_bytes, time_ns, thread_id, total_allocated_bytes,"
      " total_reserved_bytes, device_id FROM memory_event WHERE time_ns >= ? ORDER BY id");
  read.bind(1, out.begin_ns());
  while (read.step()) {
    const auto hash = static_cast<std::uint64_t>(read.integer(1));
    const auto size = static_cast<std::uint64_t>(read.integer(3));
    const bool is_release = read.integer(3) < 0;
    const std::int64_t name =
        read.is_null(0) ? out.text(fmt::format("{}", hash)) : out.name(read.integer(0));
    rows.add({name, read.integer(2), out.text(is_release ? "release" : "allocate"),
              static_cast<std::int64_t>(is_release ? ~size + 1 : size), read.integer(4),
              out.thread(read.integer(5)), read.integer(6), read.integer(7), component,
              read.integer(8)});
  }
}

void write_frequency(UnifiedWriter& out) {
  UnifiedRows rows(out, kFrequency);
  Statement read = out.store().prepare(
      "SELECT device_id, time_ns, value, number FROM counter JOIN track ON track.id = track_id"
      " JOIN name ON name.id = track.name_id WHERE name.text GLOB 'AI Core Freq*'"
      " ORDER BY counter.id");
  // The track of a die has the number of the die (chips 15 and 16).
  while (read.step()) {
    rows.add({read.integer(0), read.integer(1), read.integer(2),
              read.maybe_integer(3).value_or(kNoValue)});
  }
}

void write_overlap(UnifiedWriter& out) {
  UnifiedRows rows(out, kOverlap);
  std::int64_t number = 0;
  Statement read = out.store().prepare(
      "SELECT device_id, start_ns, end_ns, kind FROM overlap ORDER BY device_id, kind, start_ns, "
      "id");
  while (read.step()) {
    rows.add({number++, read.integer(0), read.integer(1), read.integer(2), read.integer(3)});
  }
}

}  // namespace msprof::unified
