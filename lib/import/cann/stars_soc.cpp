#include <cstring>

#include "import/cann/cann_kinds.hpp"
#include "import/cann/device_streams.hpp"
#include "import/cann/device_wire.hpp"
#include "import/cann/join/device_magic.hpp"
#include "import/cann/stars_soc_records.hpp"

namespace msprof::cann {

namespace {

// cann_device.md 5.3 and 5.4; an ACSQ log has nothing behind `syscnt` that tasks need.
#pragma pack(push, 1)
struct LogWire {
  std::uint16_t head;
  std::uint16_t magic;
  std::uint16_t stream_id;
  std::uint16_t task_id;
  std::uint64_t syscnt;
  std::uint16_t subtask_type;
  std::uint16_t subtask_id;
  std::uint16_t ffts_type;
  std::uint16_t thread_id;
  std::uint8_t reserved[40];
};
#pragma pack(pop)
static_assert(sizeof(LogWire) == 64);

// Function types; those of other records that the notes know are in kOther.
enum : unsigned { kTaskStart = 0, kTaskEnd = 1, kThreadStart = 34, kThreadEnd = 35 };
constexpr std::uint64_t bits(unsigned from, unsigned to) {
  return ((std::uint64_t{1} << (to - from + 1)) - 1) << from;
}
constexpr std::uint64_t kOther = bits(2, 6) | bits(8, 33) | bits(36, 42);

bool is_sound(std::span<const std::byte> record) {
  LogWire wire;
  std::memcpy(&wire, record.data(), sizeof(wire));
  return wire.magic == kDeviceMagic;
}

std::uint64_t time_of(std::span<const std::byte> record) {
  std::uint64_t syscnt;
  std::memcpy(&syscnt, record.data() + offsetof(LogWire, syscnt), sizeof(syscnt));
  return syscnt;
}

}  // namespace

RecordFormat stars_soc_format() {
  RecordFormat format;
  format.kind = "stars_soc";
  format.bytes = sizeof(LogWire);
  format.is_sound = is_sound;
  format.time = time_of;
  return format;
}

StarsLog read_stars_log(const StreamRecord& record, bool expanded) {
  LogWire wire;
  std::memcpy(&wire, record.bytes.data(), sizeof(wire));
  StarsLog result;
  result.function = wire.head & 0x3FU;
  result.counter = (wire.head >> 6U) & 0xFU;
  const unsigned sqe_type = static_cast<unsigned>(wire.head) >> 10U;
  const bool is_task = result.function == kTaskStart || result.function == kTaskEnd;
  result.is_sub_task = result.function == kThreadStart || result.function == kThreadEnd;
  if (!is_task && !result.is_sub_task) {
    result.what =
        (kOther >> result.function & 1) != 0 ? StarsLog::What::other : StarsLog::What::unknown;
    return result;
  }
  result.what = StarsLog::What::task;
  const StarsIds ids = stars_ids(wire.stream_id, wire.task_id, sqe_type, expanded);
  DeviceLog& log = result.log;
  log.place = {wire.syscnt, record.sequence};
  log.stream = ids.stream;
  log.task_number = ids.task_number;
  log.is_start = result.function == kTaskStart || result.function == kThreadStart;
  result.type = sqe_type;
  if (result.is_sub_task) {
    result.type = wire.subtask_type & 0xFFU;
    log.context = wire.subtask_id;
    log.thread = wire.thread_id;
  }
  return result;
}

std::unique_ptr<RawKind> make_stars_soc_kind(CannImport& import) {
  return make_device_stream_kind(
      import,
      [](const Chip& chip) {
        DeviceStreamKind kind{"stars_soc", {}, false};
        if (chip.family == ChipFamily::stars)
          kind.streams.push_back({"stars_soc.data", &DeviceInputs::stars_soc, stars_soc_format()});
        return kind;
      },
      {"stars_soc.data"});
}

}  // namespace msprof::cann
