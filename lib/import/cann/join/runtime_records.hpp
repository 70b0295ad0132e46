// RuntimeRecords: what calls of the runtime allocate, release, copy and set, as rows. For the host
// join. Source: cann_new_kinds.md 3.
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
  // Without a clock records have no times and are left out. `has_records`: there are any.
  RuntimeRecords(TraceDbWriter& store, Dictionaries& dictionaries, const ClockMap* clock,
                 bool has_records)
      : store_(store), dictionaries_(dictionaries), clock_(clock), has_records_(has_records) {}

  // Calls of every level, in order of their starts. Records come after the call that they are of.
  void add_call(const HostCall& call) {
    if (has_records_ && call.level == call_level::kRuntime)
      calls_.try_emplace(call.thread).first = call;
  }
  // `acl`: the application's call around it; null: none.
  void add(const MemmngInfoWire& wire, const HostCall* acl);
  void add(const MemcpyExtInfoWire& wire, const HostCall* acl);
  void add(const MemsetInfoWire& wire, const HostCall* acl);
  void report(ImportReport& report) const;

 private:
  // The call of the runtime that made a record; null: none.
  const HostCall* call_of(const HostHeader& head);
  void add_transfer(RuntimeCopyRow row, const HostHeader& head, std::uint32_t stream,
                    const HostCall* acl);

  TraceDbWriter& store_;
  Dictionaries& dictionaries_;
  const ClockMap* clock_;
  bool has_records_;
  FlatMap<HostCall> calls_;  // the last of each thread
  std::int64_t next_memory_ = 1;
  std::int64_t next_copy_ = 1;
  std::int64_t timeless_ = 0;
};

}  // namespace msprof::cann
