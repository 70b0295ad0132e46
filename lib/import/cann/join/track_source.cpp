#include "import/cann/join/track_source.hpp"

#include "import/cann/slice_kind.hpp"

namespace msprof::cann {

namespace {

constexpr std::uint16_t kDeviceBits = 12;

bool is_npu(const TaskTrackWire& wire) {
  return wire.device >> kDeviceBits == 0;
}

HostTrack track_of(const TaskTrackWire& wire, const HostRows::TaskType& type) {
  HostTrack track;
  track.time = wire.head.time;
  track.kernel_hash = wire.kernel_name;
  track.type_name_id = type.name_id;
  track.task_class = type.task_class;
  track.thread = wire.head.thread;
  track.device = wire.device;
  track.stream = wire.stream;
  track.task_number = wire.task_number;
  track.has_launch_info = wire.head.data_len == kLaunchDataLen;
  if (!track.has_launch_info) return track;
  if (type.task_class == TaskClass::simt) {
    SimtLaunchWire launch;
    std::memcpy(&launch, wire.launch, sizeof(launch));
    for (std::size_t i = 0; i < 3; ++i) {
      track.grid_dim[i] = launch.grid_dim[i];
      track.block_dim[i] = launch.block_dim[i];
    }
  } else {
    constexpr std::uint8_t kRatioMask = 7;
    KernelLaunchWire launch;
    std::memcpy(&launch, wire.launch, sizeof(launch));
    track.block_num = launch.block_num;
    track.mix_ratio = launch.ratio_and_mode & kRatioMask;
  }
  return track;
}

}  // namespace

void TrackSource::open(const ImportContext& context, HostRows& rows) {
  rows_ = &rows;
  std::int64_t dpu_records = 0;
  stream_.open(context, [&](const StreamRecord& record) {
    const auto wire = decode<TaskTrackWire>(record.bytes);
    if (!is_npu(wire)) {
      ++dpu_records;
    } else if (!has_batches_ || wire.type == kMaintenanceType) {
      return;
    } else if (wire.type == kFlipType) {
      batches_.add_flip(wire.device, wire.stream, record.time, wire.task_number,
                        wire.batch == kStreamDestroyed);
    } else {
      batches_.see_task(wire.device, wire.stream, record.time);
    }
  });
  if (dpu_records > 0)
    context.report.add(FindingId::unread_records, "task_track", "", "DPU record, not read", "",
                       dpu_records);
  batches_.prepare();
  fetch();
}

void TrackSource::pop() {
  batches_.pop();
  fetch();
}

// Reads on until the next task's turn is known.
void TrackSource::fetch() {
  while (!batches_.has_front() && !is_finished_) {
    const StreamRecord* record = stream_.front();
    if (record == nullptr) {
      batches_.finish();
      is_finished_ = true;
      return;
    }
    const auto wire = decode<TaskTrackWire>(record->bytes);
    if (is_npu(wire) && wire.type != kFlipType && wire.type != kMaintenanceType)
      batches_.push(track_of(wire, rows_->task_type(wire.type)));
    stream_.pop();
  }
}

}  // namespace msprof::cann
