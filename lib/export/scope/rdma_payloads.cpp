#include "export/scope/rdma_payloads.hpp"

#include <string>
#include <utility>
#include <vector>

#include "base/number.hpp"
#include "base/text.hpp"
#include "export/scope/cann_rules.hpp"

namespace msprof::cann {

std::size_t closing_distance(std::string_view collective) {
  const std::string name = lower_ascii(collective);
  const bool is_pair =
      name.find("send") != std::string::npos || name.find("receive") != std::string::npos;
  return is_pair ? 2 : 4;
}

namespace {

struct PlaneTask {
  std::int64_t id = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t size_bytes = 0;
  bool is_payload = false;
};

}  // namespace

PayloadTransfers::PayloadTransfers(const Database& db) {
  // Most captures have no payloads; then the tasks need not be read.
  Statement payloads = db.prepare("SELECT EXISTS(SELECT 1 FROM comm_call WHERE rdma_type = ?)");
  payloads.bind(1, kRdmaPayload);
  if (!payloads.step() || payloads.integer(0) == 0) return;

  enum Cell : int { kOp, kPlane, kTask, kStart, kDuration, kSize, kRdma, kName };
  Statement read = db.prepare(
      "SELECT op.id, call.plane_id, task.id, task.start_ns, task.duration_ns, call.size_bytes,"
      " call.rdma_type, op.name_id FROM comm_op_task AS member"
      " CROSS JOIN comm_op AS op ON op.id = member.comm_op_id"
      " CROSS JOIN task ON task.id = member.task_id"
      " CROSS JOIN comm_task ON comm_task.task_id = member.task_id"
      " CROSS JOIN comm_call AS call ON call.id = comm_task.comm_call_id"
      " WHERE task.start_ns >= ?1 AND op.start_ns >= ?1"
      " ORDER BY op.id, call.plane_id, task.start_ns, task.id");
  read.bind(1, window_begin_ns(db));
  Texts texts(db);
  std::vector<PlaneTask> tasks;
  std::pair<std::int64_t, std::int64_t> plane;
  std::size_t distance = 0;
  const auto take_transfers = [&] {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (!tasks[i].is_payload) continue;
      const PayloadRun run = payload_run<PlaneTask>(tasks, i, distance);
      if (run.is_closed) {
        Transfer whole{0, static_cast<double>(
                              saturating_subtract(tasks[run.closing].end_ns, tasks[i].start_ns))};
        for (std::size_t k = i; k < run.end; ++k)
          whole.bytes += static_cast<double>(tasks[k].size_bytes);
        for (std::size_t k = i; k < run.end; ++k) transfers_.emplace(tasks[k].id, whole);
      }
      i = run.end - 1;
    }
    tasks.clear();
  };
  while (read.step()) {
    const std::pair<std::int64_t, std::int64_t> now(read.integer(kOp),
                                                    read.maybe_integer(kPlane).value_or(kNull));
    if (now != plane) {
      take_transfers();
      if (now.first != plane.first) distance = closing_distance(texts(read.integer(kName)));
      plane = now;
    }
    const std::int64_t start = read.integer(kStart);
    tasks.push_back({read.integer(kTask), start, saturating_add(start, read.integer(kDuration)),
                     read.integer(kSize), read.maybe_integer(kRdma) == kRdmaPayload});
  }
  take_transfers();
}

}  // namespace msprof::cann
