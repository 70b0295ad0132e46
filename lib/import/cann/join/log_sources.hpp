// LogSource: starts and ends of tasks in order of time, from one stream of records or from states.
// For join_devices().
#pragma once

#include <optional>
#include <vector>

#include "import/cann/device_streams.hpp"
#include "import/cann/join/device_types.hpp"

namespace msprof::cann {

class LogSource {
 public:
  virtual ~LogSource() = default;
  // Null at the end.
  const DeviceLog* front() const { return log_ ? &*log_ : nullptr; }
  virtual void pop() = 0;

 protected:
  std::optional<DeviceLog> log_;
};

// The stream is open; front() is its first log.
class StarsSource : public LogSource {
 public:
  StarsSource(RecordStream& stream, DeviceTypes& types, bool expanded);
  void pop() override;

 private:
  RecordStream& stream_;
  DeviceTypes& types_;
  bool expanded_;
};

class HwtsSource : public LogSource {
 public:
  HwtsSource(RecordStream& stream, DeviceTypes& types);
  void pop() override;

 private:
  RecordStream& stream_;
  DeviceTypes& types_;
};

class StateSource : public LogSource {
 public:
  explicit StateSource(const std::vector<DeviceLog>& logs);
  void pop() override;

 private:
  const std::vector<DeviceLog>& logs_;
  std::size_t next_ = 0;
};

}  // namespace msprof::cann
