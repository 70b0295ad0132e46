#include "import/cann/join/log_sources.hpp"

#include "import/cann/hwts_records.hpp"
#include "import/cann/stars_soc_records.hpp"

namespace msprof::cann {

namespace {

// SQE types of cann_device.md 4.1 whose tasks have counters.
enum : unsigned { kAiCore = 0, kVectorCore = 2 };

}  // namespace

StarsSource::StarsSource(RecordStream& stream, DeviceTypes& types, bool expanded)
    : stream_(stream), types_(types), expanded_(expanded) {
  StarsSource::pop();
}

void StarsSource::pop() {
  log_.reset();
  while (const StreamRecord* record = stream_.front()) {
    const StarsLog read = read_stars_log(*record, expanded_);
    stream_.pop();
    if (read.what != StarsLog::What::task) continue;
    log_ = read.log;
    log_->type_name_id = read.is_sub_task ? types_.sub_task(read.type) : types_.sqe(read.type);
    return;
  }
}

HwtsSource::HwtsSource(RecordStream& stream, DeviceTypes& types) : stream_(stream), types_(types) {
  HwtsSource::pop();
}

void HwtsSource::pop() {
  log_.reset();
  while (const StreamRecord* record = stream_.front()) {
    const HwtsLog read = read_hwts_log(*record);
    stream_.pop();
    if (!read.is_task) continue;
    log_ = read.log;
    log_->type_name_id = types_.sqe(read.type);
    log_->has_ordered_pmu = read.type == kAiCore || read.type == kVectorCore;
    log_->core = read.type == kVectorCore ? CoreKind::aiv : CoreKind::aic;
    return;
  }
}

StateSource::StateSource(const std::vector<DeviceLog>& logs) : logs_(logs) {
  StateSource::pop();
}

void StateSource::pop() {
  if (next_ < logs_.size()) {
    log_ = logs_[next_++];
  } else {
    log_.reset();
  }
}

}  // namespace msprof::cann
