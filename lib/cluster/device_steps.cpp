// Reads the steps of a device and sums up its activity in each.
#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/number.hpp"
#include "base/text.hpp"
#include "cluster/device_rows.hpp"
#include "store/row_cursor.hpp"

namespace msprof::cluster {

namespace {

// Values of OverlapRow.kind.
enum SpanKind : std::int64_t { kComputing = 0, kCommunication = 1, kNotOverlapped = 2, kFree = 3 };

struct Span {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

std::int64_t length(const Span& span) {
  return saturating_subtract(span.end_ns, span.start_ns);
}

// Returns the step that contains a time; end() if there is none.
std::vector<StepWindow>::const_iterator window_at(const std::vector<StepWindow>& steps,
                                                  std::int64_t time_ns) {
  const auto at = std::upper_bound(
      steps.begin(), steps.end(), time_ns,
      [](std::int64_t time, const StepWindow& step) { return time < step.end_ns; });
  return at != steps.end() && at->begin_ns <= time_ns ? at : steps.end();
}

// Sums for one step. The last element holds everything outside of steps.
struct StepSums {
  std::int64_t by_kind[4] = {};
  std::int64_t first_work_ns = kNull;
  std::int64_t first_ns = kNull;
  std::int64_t bubble_ns = 0;
  std::int64_t not_overlapped_receive_ns = 0;
};

class StepSorter {
 public:
  explicit StepSorter(const std::vector<StepWindow>& steps)
      : steps_(steps), sums_(steps.size() + 1) {}

  // Splits the span at step boundaries and calls `take` with each piece and the sums of its step.
  template <typename Take>
  void split(Span span, Take&& take) {
    auto at = std::upper_bound(
        steps_.begin(), steps_.end(), span.start_ns,
        [](std::int64_t time, const StepWindow& step) { return time < step.end_ns; });
    while (span.start_ns < span.end_ns) {
      const bool is_inside = at != steps_.end() && at->begin_ns <= span.start_ns;
      std::int64_t end = span.end_ns;
      if (at != steps_.end()) end = std::min(end, is_inside ? at->end_ns : at->begin_ns);
      StepSums& sums = is_inside ? sums_[static_cast<std::size_t>(at - steps_.begin())] : outside();
      take(Span{span.start_ns, end}, sums);
      span.start_ns = end;
      if (is_inside) ++at;
    }
  }

  // Returns the sums of the step that contains a time.
  StepSums& at(std::int64_t time_ns) {
    const auto found = window_at(steps_, time_ns);
    return found == steps_.end() ? outside()
                                 : sums_[static_cast<std::size_t>(found - steps_.begin())];
  }

  const std::vector<StepSums>& sums() const { return sums_; }

 private:
  StepSums& outside() { return sums_.back(); }

  const std::vector<StepWindow>& steps_;
  std::vector<StepSums> sums_;
};

// Returns the time spans in which the device received, with overlapping ones merged, and adds the
// durations of the receives to bubble_ns.
std::vector<Span> read_receives(const TraceDb& store, const StoreDevice& device,
                                StepSorter& sorter) {
  std::vector<Span> spans;
  std::map<std::int64_t, bool> known;  // by name id
  Statement read = store.prepare(
      "SELECT comm_call.op_type_name_id, (SELECT text FROM name WHERE id = op_type_name_id),"
      " comm_op.start_ns, comm_op.end_ns FROM comm_op JOIN comm_call"
      " ON comm_call.id = comm_op.first_comm_call_id WHERE comm_op.device_id = ?"
      " ORDER BY comm_op.start_ns, comm_op.id");
  read.bind(1, device.id);
  while (read.step()) {
    const auto [at, is_new] = known.try_emplace(read.integer(0));
    if (is_new) at->second = is_receive(read.text(1));
    if (!at->second) continue;
    const Span span{read.integer(2), read.integer(3)};
    std::int64_t& bubble_ns = sorter.at(span.start_ns).bubble_ns;
    bubble_ns = saturating_add(bubble_ns, std::max<std::int64_t>(length(span), 0));
    if (!spans.empty() && span.start_ns <= spans.back().end_ns) {
      spans.back().end_ns = std::max(spans.back().end_ns, span.end_ns);
    } else {
      spans.push_back(span);
    }
  }
  return spans;
}

}  // namespace

bool is_receive(std::string_view operation) {
  const std::string name = lower_ascii(operation);
  return name.find("receive") != std::string::npos || name.find("recv") != std::string::npos;
}

std::int64_t step_at(const std::vector<StepWindow>& steps, std::int64_t time_ns) {
  const auto at = window_at(steps, time_ns);
  return at == steps.end() ? kNull : at->number;
}

std::vector<StepWindow> read_steps(const TraceDb& store, std::int64_t device_id) {
  std::vector<StepWindow> steps;
  Statement choose = store.prepare(
      "SELECT is_framework_step, model_number FROM iteration WHERE device_id = ?1"
      " GROUP BY 1, 2 ORDER BY 1 DESC, count(*) DESC, 2");
  choose.bind(1, device_id);
  if (!choose.step()) return steps;
  Statement read = store.prepare(
      "SELECT number, start_ns, end_ns FROM iteration WHERE device_id = ?1"
      " AND is_framework_step = ?2 AND model_number IS ?3 AND start_ns IS NOT NULL"
      " AND end_ns > start_ns ORDER BY start_ns, number");
  read.bind(1, device_id).bind(2, choose.integer(0));
  choose.is_null(1) ? read.bind_null(3) : read.bind(3, choose.integer(1));
  while (read.step()) {
    StepWindow step{read.integer(0), read.integer(1), read.integer(2)};
    // If steps overlap, the earlier one keeps the overlap.
    if (!steps.empty()) step.begin_ns = std::max(step.begin_ns, steps.back().end_ns);
    if (step.begin_ns < step.end_ns) steps.push_back(step);
  }
  return steps;
}

void add_steps(const TraceDb& store, const StoreDevice& device,
               const std::vector<StepWindow>& steps, DeviceRows& rows) {
  StepSorter sorter(steps);
  const std::vector<Span> receives = read_receives(store, device, sorter);
  std::size_t receive = 0;
  RowCursor<OverlapRow> overlap(store.database(),
                                {&OverlapRow::kind, &OverlapRow::start_ns, &OverlapRow::end_ns},
                                {.equal = {{&OverlapRow::device_id, device.id}}});
  while (overlap.next()) {
    const std::int64_t kind = overlap->kind;
    if (kind < kComputing || kind > kFree) throw store.database().damaged("a span without a kind");
    sorter.split({overlap->start_ns, overlap->end_ns}, [&](const Span& piece, StepSums& sums) {
      sums.by_kind[kind] = saturating_add(sums.by_kind[kind], length(piece));
      if (sums.first_ns == kNull) sums.first_ns = piece.start_ns;
      sums.first_ns = std::min(sums.first_ns, piece.start_ns);
      const bool is_work = kind == kComputing || kind == kCommunication;
      if (is_work && (sums.first_work_ns == kNull || piece.start_ns < sums.first_work_ns))
        sums.first_work_ns = piece.start_ns;
    });
    if (kind != kNotOverlapped) continue;
    while (receive < receives.size() && receives[receive].end_ns <= overlap->start_ns) ++receive;
    for (std::size_t i = receive; i < receives.size() && receives[i].start_ns < overlap->end_ns;
         ++i) {
      sorter.split({std::max(receives[i].start_ns, overlap->start_ns),
                    std::min(receives[i].end_ns, overlap->end_ns)},
                   [](const Span& piece, StepSums& sums) {
                     sums.not_overlapped_receive_ns =
                         saturating_add(sums.not_overlapped_receive_ns, length(piece));
                   });
    }
  }
  for (std::size_t i = 0; i < sorter.sums().size(); ++i) {
    const StepSums& sums = sorter.sums()[i];
    const bool is_step = i < steps.size();
    RankStepRow row;
    row.member_id = device.member_id;
    row.computing_ns = sums.by_kind[kComputing];
    row.communication_ns = sums.by_kind[kCommunication];
    row.not_overlapped_ns = sums.by_kind[kNotOverlapped];
    row.free_ns = sums.by_kind[kFree];
    row.bubble_ns = sums.bubble_ns;
    row.not_overlapped_receive_ns = sums.not_overlapped_receive_ns;
    const std::int64_t busy = saturating_add(row.computing_ns, row.not_overlapped_ns);
    if (is_step) {
      row.step = steps[i].number;
      row.begin_ns = steps[i].begin_ns;
      row.duration_ns = length({steps[i].begin_ns, steps[i].end_ns});
      // Computed, because the store has no free span before the first and after the last task.
      row.free_ns = saturating_subtract(row.duration_ns, busy);
      row.preparing_ns = sums.first_work_ns == kNull
                             ? row.duration_ns
                             : saturating_subtract(sums.first_work_ns, row.begin_ns);
    } else {
      row.begin_ns = sums.first_ns;
      row.duration_ns = saturating_add(busy, row.free_ns);
      if (row.duration_ns == 0) continue;
    }
    rows.steps.push_back(row);
  }
}

void add_operators(const TraceDb& store, const StoreDevice& device,
                   std::map<OpKey, OpTotal>& totals) {
  std::vector<OpTotal*> by_op;  // by op id - 1
  Statement ops =
      store.prepare("SELECT id, name_id, type_name_id, unit_name_id FROM op ORDER BY id");
  while (ops.step()) {
    const auto id = static_cast<std::size_t>(ops.integer(0));
    if (id != by_op.size() + 1) throw store.database().damaged("operators are not in order");
    const auto cell = [&](int column) { return ops.maybe_integer(column).value_or(kNull); };
    const OpKey key{cell(1), cell(2), cell(3)};
    OpTotal& total = totals.try_emplace(key).first->second;
    total.name_id = key[0];
    total.type_name_id = key[1];
    total.unit_name_id = key[2];
    by_op.push_back(&total);
  }
  RowCursor<TaskRow> tasks(store.database(), {&TaskRow::op_id, &TaskRow::duration_ns},
                           {.first_id = device.first_task_id,
                            .last_id = device.last_task_id,
                            .not_null = {&TaskRow::op_id, &TaskRow::duration_ns}});
  while (tasks.next()) {
    if (tasks->op_id < 1 || static_cast<std::size_t>(tasks->op_id) > by_op.size())
      throw store.database().damaged("a task of an unknown operator");
    by_op[static_cast<std::size_t>(tasks->op_id) - 1]->add(tasks->duration_ns, device.member_id);
  }
}

}  // namespace msprof::cluster
