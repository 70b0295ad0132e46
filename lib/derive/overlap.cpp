// Derives overlap: spans in which the cores of a device computed, communicated, or did neither.
// Source: cann_device.md 14.5 (which tasks), 23.6.
#include <algorithm>
#include <string_view>
#include <vector>

#include "derive/passes.hpp"
#include "derive/task_sums.hpp"
#include "store/schema.hpp"

namespace msprof {

namespace {

enum : std::int64_t { kComputing = 0, kCommunication = 1, kNotOverlapped = 2, kFree = 3 };

// Visits the parts of `whole` that are in none of `parts`.
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
  IntervalUnion result;
  for (const Interval& interval : all) result.add(interval);
  return result.intervals();
}

IntervalUnion read_communication(const Database& db, std::int64_t device_id) {
  IntervalUnion result;
  const std::int64_t begin_ns = read_meta_integer(db, "window.begin_ns").value_or(0);
  Statement ops =
      db.prepare("SELECT start_ns, end_ns FROM comm_op WHERE device_id = ? ORDER BY start_ns, id");
  ops.bind(1, device_id);
  while (ops.step()) {
    if (ops.integer(0) >= begin_ns) result.add({ops.integer(0), ops.integer(1)});
  }
  return result;
}

void write(TraceDbWriter& store, const TaskSums::Run& run,
           const std::vector<Interval>& communication, std::int64_t& next_id) {
  const auto add = [&](std::int64_t kind, const Interval& span) {
    store.add(OverlapRow{next_id++, run.device_id, kind, span.start_ns, span.end_ns});
  };
  const std::vector<Interval>& computing = run.computing.intervals();
  for (const Interval& span : computing) add(kComputing, span);
  for (const Interval& span : communication) add(kCommunication, span);
  subtract(communication, computing, [&](const Interval& span) { add(kNotOverlapped, span); });
  const std::vector<Interval> busy = merged(computing, communication);
  Interval whole = run.whole;
  for (const Interval& span : busy) {
    whole.start_ns = std::min(whole.start_ns, span.start_ns);
    whole.end_ns = std::max(whole.end_ns, span.end_ns);
  }
  if (whole.end_ns <= whole.start_ns) return;
  subtract({whole}, busy, [&](const Interval& span) { add(kFree, span); });
}

}  // namespace

void derive_overlap(TraceDbWriter& store, const TaskSums& tasks) {
  if (tasks.runs.empty()) return;
  // Adds ids for these type names even if no task has the type.
  for (const std::string_view type : kernel_types()) store.name_id(type);
  const Database& db = store.readable();
  std::int64_t next_id = 1;
  for (const TaskSums::Run& run : tasks.runs)
    write(store, run, read_communication(db, run.device_id).intervals(), next_id);
}

}  // namespace msprof
