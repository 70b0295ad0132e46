#include <algorithm>
#include <cstring>

#include "import/cann/aicore_records.hpp"
#include "import/cann/cann_kinds.hpp"
#include "import/cann/device_streams.hpp"
#include "import/cann/join/device_magic.hpp"

namespace msprof::cann {

namespace {

#pragma pack(push, 1)
// cann_device.md 7.1
struct AicoreWire {
  std::uint8_t cnt;
  std::uint8_t reserved_1;
  std::uint16_t magic;
  std::uint16_t reserved_4;
  std::uint16_t task_id;
  std::uint32_t reserved_8[2];
  std::uint64_t total_cycle;
  std::uint64_t reserved_24;
  std::uint64_t pmu[kPmuSlots];
  std::uint32_t stream_id;
  std::uint32_t tail[7];
};
static_assert(sizeof(AicoreWire) == 128);

// cann_device.md 7.4
struct EventCountWire {
  std::uint8_t mode;
  std::uint8_t tag;
  std::uint16_t bufsize;
  std::uint32_t reserved;
  std::uint16_t task_type;
  std::uint16_t stream_id;
  std::uint16_t task_id;
  std::uint16_t overflow;
  std::uint64_t overflow_cycle;
  std::uint64_t event[kPmuSlots];
  std::uint64_t task_cyc;
  std::uint64_t timestamp;
  std::uint16_t block;
  std::uint16_t tail[3];
};
static_assert(sizeof(EventCountWire) == 112);
#pragma pack(pop)

constexpr std::uint32_t kStreamMask = 0x7FF;
constexpr std::uint8_t kEventCountTag = 4;

template <typename Wire>
Wire wire_of(std::span<const std::byte> record) {
  Wire wire;
  std::memcpy(&wire, record.data(), sizeof(wire));
  return wire;
}

// The magic is usual, not certain: without it the unused fields must be, and something must be
// counted.
bool is_sound(std::span<const std::byte> record) {
  const auto wire = wire_of<AicoreWire>(record);
  if (wire.magic == kDeviceMagic) return true;
  const auto is_zero = [](auto word) { return word == 0; };
  return may_be_magic(wire.magic) && wire.reserved_1 == 0 && wire.reserved_4 == 0 &&
         wire.reserved_24 == 0 && wire.stream_id <= UINT16_MAX &&
         std::all_of(std::begin(wire.reserved_8), std::end(wire.reserved_8), is_zero) &&
         std::all_of(std::begin(wire.tail), std::end(wire.tail), is_zero) &&
         !(wire.total_cycle == 0 && std::all_of(std::begin(wire.pmu), std::end(wire.pmu), is_zero));
}

bool is_event_count(std::span<const std::byte> record) {
  const auto wire = wire_of<EventCountWire>(record);
  return wire.tag == kEventCountTag && wire.bufsize == sizeof(EventCountWire);
}

DeviceStreamKind kind_of_chip(const Chip& chip) {
  DeviceStreamKind kind{"aicore", {}, true};
  if (chip.family == ChipFamily::hwts) {
    kind.streams.push_back({"aicore.data", &DeviceInputs::aicore, aicore_format()});
    kind.streams.push_back({"aiVectorCore.data", &DeviceInputs::aicore_vector, aicore_format()});
  } else if (chip.family == ChipFamily::mini) {
    kind.streams.push_back({"aicore.data", &DeviceInputs::aicore, event_count_format()});
  }
  return kind;
}

}  // namespace

RecordFormat aicore_format() {
  RecordFormat format;
  format.kind = "aicore";
  format.bytes = sizeof(AicoreWire);
  format.is_sound = is_sound;
  format.unsound_reason = "not a record";
  return format;
}

RecordFormat event_count_format() {
  RecordFormat format;
  format.kind = "aicore";
  format.bytes = sizeof(EventCountWire);
  format.is_sound = is_event_count;
  format.unsound_reason = "not an event count";
  return format;
}

AicoreRecord read_aicore_record(const StreamRecord& record) {
  const auto wire = wire_of<AicoreWire>(record.bytes);
  AicoreRecord result;
  result.counter = wire.cnt >> 4U;
  result.stream = static_cast<std::uint16_t>(wire.stream_id & kStreamMask);
  result.task_number = wire.task_id;
  result.values.total_cycles = wire.total_cycle;
  std::memcpy(result.values.counters.data(), wire.pmu, sizeof(wire.pmu));
  return result;
}

AicoreRecord read_event_count(const StreamRecord& record) {
  const auto wire = wire_of<EventCountWire>(record.bytes);
  AicoreRecord result;
  result.stream = static_cast<std::uint16_t>(wire.stream_id & kStreamMask);
  result.task_number = wire.task_id;
  result.values.total_cycles = wire.task_cyc;
  std::memcpy(result.values.counters.data(), wire.event, sizeof(wire.event));
  return result;
}

std::unique_ptr<RawKind> make_aicore_kind(CannImport& import) {
  return make_device_stream_kind(import, kind_of_chip, {"aicore.data", "aiVectorCore.data"});
}

}  // namespace msprof::cann
