// The rows of the devices, and what exports want to know of the capture as a whole.
#include "import/cann/cann_kinds.hpp"

namespace msprof::cann {

namespace {

std::int64_t or_null(std::int64_t value) {
  return value > 0 ? value : kNull;
}

std::int64_t name_or_null(TraceDbWriter& store, std::string_view text) {
  return text.empty() ? kNull : store.name_id(text);
}

DeviceRow device_row(const CannPart& part, TraceDbWriter& store) {
  const Info& info = part.info;
  DeviceRow row;
  row.id = *part.device;
  if (info.platform) {
    row.platform = *info.platform;
    if (const auto chip = chip_of(*info.platform)) row.chip_name_id = store.name_id(chip->name);
  }
  row.frequency_hz = or_null(info.aic_frequency_hz);
  row.core_count = or_null(info.ai_core_num);
  row.vector_core_count = or_null(info.aiv_num);
  row.vector_frequency_hz = or_null(info.aiv_frequency_hz);
  row.is_task_based = info.is_task_based ? 1 : 0;
  row.core_metrics_name_id = name_or_null(store, info.aic_metrics);
  row.vector_core_metrics_name_id = name_or_null(store, info.aiv_metrics);
  row.tick_frequency_hz = or_null(info.hwts_frequency_hz);
  return row;
}

}  // namespace

void write_devices(const CannImport& import, const ImportContext& context) {
  const CannSession& session = import.session;
  TraceDbWriter& store = context.store;
  for (const CannPart& part : session.parts()) {
    if (!part.is_host()) store.add(device_row(part, store));
  }
  const Info& info = session.info();
  store.set_meta("time_stamp", session.time_stamp());
  store.set_meta("chip", session.chip() ? session.chip()->name : "");
  store.set_meta("window.begin_ns", std::to_string(session.begin_ns()));
  store.set_meta("window.end_ns", std::to_string(session.end_ns()));
  store.set_meta("window.has_end", session.has_end() ? "1" : "0");
  store.set_meta("host.pid", std::to_string(info.pid));
  store.set_meta("host.pid_name", info.pid_name);
  store.set_meta("host.hostname", info.host_name);
  store.set_meta("host.uid", info.host_uid);
  store.set_meta("host.rank", std::to_string(info.rank_id));
  store.set_meta("host.frequency_hz", std::to_string(info.host_frequency_hz));
}

}  // namespace msprof::cann
