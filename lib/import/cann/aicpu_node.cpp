#include "import/cann/aicpu.hpp"

#include "base/number.hpp"
#include "import/cann/slice_kind.hpp"

namespace msprof::cann {

namespace {

std::int64_t difference(std::uint64_t end, std::uint64_t start) {
  return cell(end - start);
}

}  // namespace

AicpuNodeRow aicpu_row(const AicpuNode& node, const std::optional<ClockMap>& clock) {
  AicpuNodeRow row;
  row.compute_us = difference(node.memcpy_start_us, node.compute_start_us);
  row.memcpy_us = difference(node.memcpy_end_us, node.memcpy_start_us);
  row.dispatch_us = node.dispatch_us;
  if (!clock) return row;
  row.start_ns = clock->ns(node.start_ticks);
  row.end_ns = clock->ns(node.end_ticks);
  const double start_ms = clock->shown_monotonic_ms(node.start_ticks);
  const double end_ms = clock->shown_monotonic_ms(node.end_ticks);
  row.shown_start_ns = clock->shown_ns_of(start_ms * 1000);
  row.shown_duration_ns = ns_from_us((end_ms - start_ms) * 1000);
  const auto ticks = static_cast<double>(difference(node.after_run_ticks, node.submit_ticks));
  row.total_ns = ns_from_us(ticks / static_cast<double>(clock->start().frequency_hz) * 1e6);
  return row;
}

}  // namespace msprof::cann
