#include "import/cann/host/host_record.hpp"

#include <cstddef>

namespace msprof::cann {

std::uint64_t host_record_time(std::span<const std::byte> record) {
  std::uint64_t time = 0;
  std::memcpy(&time, record.data() + offsetof(HostHeader, time), sizeof(time));
  return time;
}

}  // namespace msprof::cann
