#include <algorithm>
#include <cstring>

#include "import/cann/cann_kinds.hpp"
#include "import/cann/device_streams.hpp"
#include "import/cann/hwts_records.hpp"
#include "import/cann/join/device_magic.hpp"

namespace msprof::cann {

namespace {

// cann_device.md 4
#pragma pack(push, 1)
struct HwtsWire {
  std::uint8_t cnt_tag;
  std::uint8_t task_type;
  std::uint16_t magic;
  std::uint16_t reserved;
  std::uint16_t task_id;
  std::uint64_t syscnt;
  std::uint32_t stream_id;
  std::uint32_t tail[11];
};
#pragma pack(pop)
static_assert(sizeof(HwtsWire) == 64);

constexpr std::uint32_t kStreamMask = 0x7FF;
constexpr std::uint8_t kTypes = 32;  // more than there are; a counter is soon beyond them

// The magic is usual, not certain: without it the other fields must look right, also against the
// same bytes read a place too early.
bool is_sound(std::span<const std::byte> record) {
  HwtsWire wire;
  std::memcpy(&wire, record.data(), sizeof(wire));
  if (wire.magic == kDeviceMagic) return true;
  return may_be_magic(wire.magic) && wire.task_type < kTypes && wire.syscnt != 0 &&
         wire.reserved == 0 && wire.stream_id <= UINT16_MAX &&
         std::all_of(std::begin(wire.tail), std::end(wire.tail),
                     [](std::uint32_t word) { return word == 0; });
}

std::uint64_t time_of(std::span<const std::byte> record) {
  std::uint64_t syscnt;
  std::memcpy(&syscnt, record.data() + offsetof(HwtsWire, syscnt), sizeof(syscnt));
  return syscnt;
}

}  // namespace

RecordFormat hwts_format() {
  RecordFormat format;
  format.kind = "hwts";
  format.bytes = sizeof(HwtsWire);
  format.is_sound = is_sound;
  format.unsound_reason = "not a record";
  format.time = time_of;
  return format;
}

HwtsLog read_hwts_log(const StreamRecord& record) {
  HwtsWire wire;
  std::memcpy(&wire, record.bytes.data(), sizeof(wire));
  HwtsLog result;
  const unsigned tag = wire.cnt_tag & 0x7U;
  result.is_task = tag <= 1;
  result.counter = wire.cnt_tag >> 4U;
  result.type = wire.task_type;
  result.log.place = {wire.syscnt, record.sequence};
  result.log.stream = static_cast<std::uint16_t>(wire.stream_id & kStreamMask);
  result.log.task_number = wire.task_id;
  result.log.is_start = tag == 0;
  return result;
}

std::unique_ptr<RawKind> make_hwts_kind(CannImport& import) {
  return make_device_stream_kind(
      import,
      [](const Chip& chip) {
        DeviceStreamKind kind{"hwts", {}, false};
        if (chip.family == ChipFamily::hwts || chip.family == ChipFamily::mini) {
          kind.streams.push_back({"hwts.data", &DeviceInputs::hwts, hwts_format()});
          kind.streams.push_back({"hwts.aiv_data", &DeviceInputs::hwts_vector, hwts_format()});
        }
        return kind;
      },
      {"hwts.data", "hwts.aiv_data"});
}

}  // namespace msprof::cann
