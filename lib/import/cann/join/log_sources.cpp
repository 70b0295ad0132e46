#include "import/cann/join/log_sources.hpp"

namespace msprof::cann {

StarsSource::StarsSource(RecordStream& stream, DeviceTypes& types, bool expanded)
    : stream_(stream), types_(types), expanded_(expanded) {
  StarsSource::pop();
}

void StarsSource::pop() {
  log_.reset();
  while (const StreamRecord* record = stream_.front()) {
    const LogRecord read = read_stars_log(*record, expanded_);
    stream_.pop();
    if (read.what != LogRecord::What::task) continue;
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
    const LogRecord read = read_hwts_log(*record);
    stream_.pop();
    if (read.what != LogRecord::What::task) continue;
    log_ = read.log;
    log_->type_name_id = types_.sqe(read.type);
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
