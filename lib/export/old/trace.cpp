#include "export/old/trace.hpp"

#include <utility>

namespace msprof::old {

std::unique_ptr<TimelineLayer> make_layer(std::string_view exists, Draw draw) {
  return std::make_unique<OldLayer>(
      LayerInfo{.name = {}, .help = "of captures of CANN 5 and older", .exists = exists}, draw);
}

std::int64_t host_process(const Database& db) {
  return read_meta_integer(db, "host.pid").value_or(0);
}

OldProcess::OldProcess(TraceWriter& out, const OutputFile& file, std::int64_t layer,
                       std::int64_t pid, std::string_view name)
    : out_(out), lane_{pid, 0, file.key == kWholeTimeline ? layer : -1}, name_(name) {}

void OldProcess::begin() {
  if (std::exchange(is_begun_, true)) return;
  if (!name_.empty()) out_.process_name(lane_, name_);
  if (lane_.layer >= 0) out_.process_sort_index(lane_, lane_.layer);
}

TraceLane OldProcess::thread(std::int64_t tid, std::string_view name) {
  const TraceLane lane = unnamed(tid);
  if (threads_.insert(tid).second) out_.thread(lane, name, tid);
  return lane;
}

TraceLane OldProcess::unnamed(std::int64_t tid) {
  begin();
  return {lane_.pid, tid, lane_.layer};
}

SchedulerTasks::SchedulerTasks(const Database& db)
    : copy_(cann::find_name_id(db, "MEMCPY_ASYNC")), collective_(cann::find_name_id(db, "HCCL")) {}

}  // namespace msprof::old
