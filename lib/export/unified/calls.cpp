// Tables of the host: CANN_API, MSTX_EVENTS. Source: cann_host.md 2.1 (which calls count), 2.6.
#include <set>

#include "export/scope/scoped_rows.hpp"
#include "export/unified/unified_writer.hpp"

namespace msprof::unified {

namespace {

constexpr UnifiedTable kCalls{"CANN_API",
                              "startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER,"
                              " connectionId INTEGER PRIMARY KEY, name STRING"};
constexpr UnifiedTable kUserRanges{
    "MSTX_EVENTS",
    "startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER,"
    " message STRING, globalTid INTEGER, endGlobalTid INTEGER, domainId STRING,"
    " connectionId INTEGER"};

// Levels with a name but not in ENUM_API_TYPE get the number of "other" (cann_host.md 2.6).
std::int64_t api_type(std::int64_t level) {
  return level == 30000 || level == 25000 || level == 20500 ? kOtherApiType : level;
}

}  // namespace

void write_calls(UnifiedWriter& out) {
  UnifiedRows rows(out, kCalls);
  std::set<std::int64_t> types;
  cann::CallCursor calls(out.store(), {}, {&ApiCallRow::id, &ApiCallRow::level});
  while (calls.next()) {
    const std::int64_t type = api_type(calls->level);
    types.insert(type);
    rows.add({calls->start_ns, calls->end_ns, type, out.thread(calls->thread_id), calls->id,
              out.name(given(calls->name_id))});
  }
  write_api_types(out, types);
}

void write_user_ranges(UnifiedWriter& out) {
  // Ids of marks that a device repeats follow this one.
  constexpr std::int64_t kPlainConnection = 4'000'000'000;
  UnifiedRows rows(out, kUserRanges);
  Statement read = out.store().prepare(
      "SELECT start_ns, end_ns, event_type, is_extended, category, message_name_id, thread_id,"
      " domain_name_id, mark_id FROM user_range WHERE start_ns >= ? ORDER BY id");
  read.bind(1, out.begin_ns());
  while (read.step()) {
    const bool is_extended = read.integer(3) != 0;
    const std::int64_t thread = out.thread(read.integer(6));
    rows.add({read.integer(0), read.integer(1), read.integer(2), kInvalidId,
              is_extended ? kInvalidId : read.integer(4), out.name(read.maybe_integer(5)), thread,
              thread, is_extended ? out.name(read.maybe_integer(7)) : out.text(""),
              is_extended ? mark_connection(read.integer(8)) : kPlainConnection});
  }
}

}  // namespace msprof::unified
