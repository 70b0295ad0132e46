#include "import/cann/join/fusion_parts.hpp"

namespace msprof::cann {

void FusionParts::add(const DeviceLog& log) {
  constexpr unsigned kEngineBits = 5;
  constexpr std::uint16_t kEngineMask = (1U << kEngineBits) - 1;
  const FusionPartKey key{log.task_number, log.engine, log.acc_id};
  if (log.is_start) {
    open_.emplace(key, log.place.ticks);
    return;
  }
  const auto start = open_.find(key);
  if (start == open_.end()) {
    ++ends_alone_;
    return;
  }
  FusionPartRow row;
  row.id = ++rows_;
  row.device_id = device_;
  row.stream_id = stream_of_(log.task_number);
  row.task_number = log.task_number;
  row.engine = log.engine & kEngineMask;
  row.acc_id = log.acc_id;
  row.mission_id = log.engine >> kEngineBits;
  row.start_ns = clock_.ns(start->second);
  row.end_ns = clock_.ns(log.place.ticks);
  open_.erase(start);
  store_.add(row);
}

}  // namespace msprof::cann
