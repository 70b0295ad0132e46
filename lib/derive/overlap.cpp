// overlap: spans in which the cores of a device computed, communicated, or did neither.
// Source: cann_device.md 14.5 (which tasks), 23.6.
#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/number.hpp"
#include "derive/passes.hpp"
#include "store/row_cursor.hpp"
#include "store/schema.hpp"

namespace msprof {

namespace {

enum : std::int64_t { kComputing = 0, kCommunication = 1, kNotOverlapped = 2, kFree = 3 };

// Host types whose tasks alone do not stretch the time in which a device can be free.
constexpr std::string_view kKernelTypes[] = {
    "KERNEL_AICORE", "KERNEL_AIVEC",     "KERNEL_MIX_AIC",    "KERNEL_MIX_AIV",
    "FFTS_PLUS",     "PROFILING_ENABLE", "PROFILING_DISABLE",
};

struct Interval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

// Intervals that neither overlap nor touch, in order of time.
class Union {
 public:
  // By start.
  void add(Interval interval) {
    if (interval.end_ns <= interval.start_ns) return;
    if (!intervals_.empty() && interval.start_ns <= intervals_.back().end_ns) {
      intervals_.back().end_ns = std::max(intervals_.back().end_ns, interval.end_ns);
    } else {
      intervals_.push_back(interval);
    }
  }
  const std::vector<Interval>& intervals() const { return intervals_; }

 private:
  std::vector<Interval> intervals_;
};

// Parts of `whole` that are in none of `parts`.
template <typename Visit>
void subtract(const std::vector<Interval>& whole, const std::vector<Interval>& parts,
              const Visit& visit) {
  std::size_t part = 0;
  for (const Interval& interval : whole) {
    std::int64_t from = interval.start_ns;
    while (part < parts.size() && parts[part].end_ns <= from) ++part;
    for (std::size_t at = part; at < parts.size() && parts[at].start_ns < interval.end_ns; ++at) {
      if (parts[at].start_ns > from) visit(Interval{from, parts[at].start_ns});
      from = std::max(from, parts[at].end_ns);
    }
    if (from < interval.end_ns) visit(Interval{from, interval.end_ns});
  }
}

std::vector<Interval> merged(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  std::vector<Interval> all(a);
  all.insert(all.end(), b.begin(), b.end());
  std::sort(all.begin(), all.end(), [](const Interval& left, const Interval& right) {
    return left.start_ns < right.start_ns;
  });
  Union result;
  for (const Interval& interval : all) result.add(interval);
  return result.intervals();
}

// Evidence that an operator is no computing, or a task no reason to be free.
struct Exceptions {
  std::set<std::int64_t> kernel_type_ids;
  std::set<std::int64_t> kfc_streams;
  std::set<std::int64_t> communication_ops;  // by name: kernels that drive a collective
  std::int64_t begin_ns = 0;
};

Exceptions exceptions_of(TraceDbWriter& store, const Database& db) {
  Exceptions result;
  for (const std::string_view type : kKernelTypes)
    result.kernel_type_ids.insert(store.name_id(type));
  Statement streams =
      db.prepare("SELECT stream_id FROM kfc_stream WHERE is_comm_stream = 0 ORDER BY id");
  while (streams.step()) result.kfc_streams.insert(streams.integer(0));
  Statement ops = db.prepare(
      "SELECT op.id FROM op JOIN name ON name.id = op.name_id"
      " WHERE name.text GLOB '*AicpuKernel' OR name.text GLOB '*AivKernel' ORDER BY op.id");
  while (ops.step()) result.communication_ops.insert(ops.integer(0));
  result.begin_ns = read_meta_integer(db, "window.begin_ns").value_or(result.begin_ns);
  return result;
}

class DeviceOverlap {
 public:
  DeviceOverlap(const Database& db, const Exceptions& exceptions) : db_(db), except_(exceptions) {}

  void read_tasks(std::int64_t first_id, std::int64_t last_id) {
    RowCursor<TaskRow> tasks(
        db_,
        {&TaskRow::start_ns, &TaskRow::duration_ns, &TaskRow::op_id, &TaskRow::stream_id,
         &TaskRow::host_type_name_id},
        {.first_id = first_id, .last_id = last_id, .not_null = {&TaskRow::device_type_name_id}});
    while (tasks.next()) {
      const Interval span{tasks->start_ns, saturating_add(tasks->start_ns, tasks->duration_ns)};
      if (span.end_ns < except_.begin_ns) continue;
      if (is_computing(*tasks)) computing_.add(span);
      if (except_.kernel_type_ids.count(tasks->host_type_name_id) == 0) stretch(span);
    }
  }

  void read_comm_ops(std::int64_t device_id) {
    Statement ops = db_.prepare(
        "SELECT start_ns, end_ns FROM comm_op WHERE device_id = ? ORDER BY start_ns, id");
    ops.bind(1, device_id);
    while (ops.step()) {
      if (ops.integer(0) >= except_.begin_ns) communication_.add({ops.integer(0), ops.integer(1)});
    }
  }

  void write(TraceDbWriter& store, std::int64_t device_id, std::int64_t& next_id) {
    const auto add = [&](std::int64_t kind, const Interval& span) {
      store.add(OverlapRow{next_id++, device_id, kind, span.start_ns, span.end_ns});
    };
    const auto& computing = computing_.intervals();
    const auto& communication = communication_.intervals();
    for (const Interval& span : computing) add(kComputing, span);
    for (const Interval& span : communication) add(kCommunication, span);
    subtract(communication, computing, [&](const Interval& span) { add(kNotOverlapped, span); });
    const std::vector<Interval> busy = merged(computing, communication);
    for (const Interval& span : busy) stretch(span);
    if (whole_.end_ns <= whole_.start_ns) return;
    subtract({whole_}, busy, [&](const Interval& span) { add(kFree, span); });
  }

 private:
  bool is_computing(const TaskRow& task) const {
    return task.op_id != kNull && except_.kfc_streams.count(task.stream_id) == 0 &&
           except_.communication_ops.count(task.op_id) == 0;
  }
  void stretch(const Interval& span) {
    whole_.start_ns = std::min(whole_.start_ns, span.start_ns);
    whole_.end_ns = std::max(whole_.end_ns, span.end_ns);
  }

  const Database& db_;
  const Exceptions& except_;
  Union computing_;
  Union communication_;
  Interval whole_{INT64_MAX, INT64_MIN};
};

}  // namespace

void derive_overlap(TraceDbWriter& store) {
  const Database& db = store.readable();
  std::int64_t next_id = 1;
  Statement runs = db.prepare(
      "SELECT device_id, first_task_id, last_task_id FROM task_run"
      " WHERE device_id IS NOT NULL ORDER BY id");
  std::optional<Exceptions> exceptions;
  while (runs.step()) {
    if (!exceptions) exceptions = exceptions_of(store, db);
    DeviceOverlap overlap(db, *exceptions);
    overlap.read_tasks(runs.integer(1), runs.integer(2));
    overlap.read_comm_ops(runs.integer(0));
    overlap.write(store, runs.integer(0), next_id);
  }
}

}  // namespace msprof
