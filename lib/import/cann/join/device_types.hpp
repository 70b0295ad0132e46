// DeviceTypes: the names of what a device ran, by the numbers in its records; ids in `name`.
// Sources: cann_device.md 4.1 (SQE types), 5.4 (FFTS+ sub tasks), 19 (chip 310).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "import/cann/device_streams.hpp"
#include "store/trace_db.hpp"

namespace msprof::cann {

class DeviceTypes {
 public:
  DeviceTypes(TraceDbWriter& store, ChipFamily family) : store_(store), family_(family) {
    sqe_.fill(kUnasked);
    sub_task_.fill(kUnasked);
  }

  // Null for a number without a name; quick when asked again.
  std::int64_t sqe(unsigned number) {
    if (number >= sqe_.size()) return kNull;
    std::int64_t& id = sqe_[number];
    if (id == kUnasked) id = id_of(sqe_type_name(family_, number));
    return id;
  }
  std::int64_t sub_task(unsigned number) {
    if (number >= sub_task_.size()) return kNull;
    std::int64_t& id = sub_task_[number];
    if (id == kUnasked) id = id_of(sub_task_type_name(number));
    return id;
  }

 private:
  static constexpr std::int64_t kUnasked = -1;

  std::int64_t id_of(std::string_view name) { return name.empty() ? kNull : store_.name_id(name); }

  TraceDbWriter& store_;
  ChipFamily family_;
  std::array<std::int64_t, 256> sqe_;
  std::array<std::int64_t, 256> sub_task_;
};

}  // namespace msprof::cann
