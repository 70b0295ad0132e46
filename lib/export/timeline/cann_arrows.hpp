// Arrows from host calls to what they started on a device (HostToDevice of Chrome traces), for the
// layers that draw their ends. The id of an arrow is that of its call << 32. Sources: cann_host.md
// 2.5 (starts), cann_device.md 23.3 (ends).
//
// Viewers treat phase 'f' as the last end of an arrow and warn about further ones. Therefore all
// ends but the latest are 't', unless the reader expects the vendor's form. Import marks the latest
// end (derive/marks.cpp). Memory: two bits per task, one per call, one per collective.
#pragma once

#include <cstdint>
#include <memory>

#include "export/scope/cann_rules.hpp"
#include "export/scope/export_scope.hpp"
#include "export/scope/id_bits.hpp"
#include "export/scope/output_file.hpp"
#include "export/trace/trace_writer.hpp"
#include "store/database.hpp"
#include "store/row_cursor.hpp"
#include "store/rows/mark_rows.hpp"

namespace msprof::cann {

// Calls that start an arrow because of their name: the event that they record or wait for is a
// separate task. The names are looked up once, because names have no index.
class EventCalls {
 public:
  explicit EventCalls(const Database& db)
      : record_(find_name_id(db, "aclrtRecordEvent")),
        wait_(find_name_id(db, "aclrtStreamWaitEvent")) {}
  // `name` is the name id of a call.
  bool has(std::int64_t name) const { return name == record_ || name == wait_; }

 private:
  std::int64_t record_;
  std::int64_t wait_;
};

// Returns the calls with a MEMCPY_ASYNC task; they start an arrow, too.
IdBits calls_with_copies(const Database& db);

void write_arrow(TraceWriter& out, char phase, TraceLane lane, std::int64_t call_id,
                 std::int64_t time_ns);

class ArrowEnds {
 public:
  // `ends_every`: phase 'f' always.
  ArrowEnds(const Database& db, const ExportScope& scope, bool ends_every = false);

  // Phase of the arrow's end at a task or a collective; 0 if no arrow ends there. `call_id` is the
  // call that started it. May be called in any order.
  char phase_of_task(std::int64_t task_id, std::int64_t call_id) const {
    if (!ends_.has(task_id) || is_hidden(call_id)) return 0;
    return ends_every_ || last_tasks_.has(task_id) ? 'f' : 't';
  }
  char phase_of_op(std::int64_t op_id, std::int64_t call_id) const {
    if (is_hidden(call_id)) return 0;
    return ends_every_ || last_ops_.has(op_id) ? 'f' : 't';
  }

 private:
  bool is_hidden(std::int64_t call_id) const { return chosen_calls_.has(call_id) != are_shown_; }
  void find_hidden_calls(const Database& db, const ExportScope& scope);
  void find_shown_calls(const Database& db, const ExportScope& scope);

  IdBits ends_;
  IdBits last_tasks_;
  IdBits last_ops_;
  IdBits chosen_calls_;     // the drawn calls, or those not drawn
  bool are_shown_ = false;  // chosen_calls_ are the drawn ones
  bool ends_every_;
};

// Returns the arrow ends of the file, which its layers share.
std::shared_ptr<const ArrowEnds> arrow_ends(const Database& db, const OutputFile& output_file);

}  // namespace msprof::cann
