// RuntimeRecords: writes rows for memory that runtime calls allocate, release, copy and set.
// Source: cann_new_kinds.md 3.
#pragma once

#include <cstdint>

#include "import/cann/join/flat_table.hpp"
#include "import/cann/join/host_records.hpp"
#include "import/import_report.hpp"
#include "session/clock_map.hpp"
#include "store/trace_db_writer.hpp"

namespace msprof::cann {

class Dictionaries;

class RuntimeRecords {
 public:
  // Without a clock, records have no times and are left out. If `has_records` is false, calls are
  // not tracked.
  RuntimeRecords(TraceDbWriter& store, Dictionaries& dictionaries, const ClockMap* clock,
                 bool has_records)
      : store_(store), dictionaries_(dictionaries), clock_(clock), has_records_(has_records) {}

  // Adds a call of any level, in order of start. The records of a call follow it.
  void add_call(const HostCall& call) {
    if (has_records_ && call.level == call_level::kRuntime)
      calls_.try_emplace(call.thread).first = call;
  }
  // `acl`: the application's call around the record; null if there is none.
  void add(const MemmngInfoWire& wire, const HostCall* acl);
  void add(const MemcpyExtInfoWire& wire, const HostCall* acl);
  void add(const MemsetInfoWire& wire, const HostCall* acl);
  void report(ImportReport& report) const;

 private:
  // Returns the runtime call that made a record; null if there is none.
  const HostCall* find_call(const HostHeader& head);
  void add_transfer(RuntimeCopyRow row, const HostHeader& head, std::uint32_t stream,
                    const HostCall* acl);

  TraceDbWriter& store_;
  Dictionaries& dictionaries_;
  const ClockMap* clock_;
  bool has_records_;
  FlatMap<HostCall> calls_;  // the last call of each thread
  std::int64_t next_memory_ = 1;
  std::int64_t next_copy_ = 1;
  std::int64_t timeless_ = 0;
};

}  // namespace msprof::cann
