#include <cstring>

#include "import/cann/cann_kinds.hpp"
#include "import/cann/device_streams.hpp"
#include "import/cann/device_wire.hpp"
#include "import/cann/ffts_profile_records.hpp"
#include "import/cann/join/device_magic.hpp"

namespace msprof::cann {

namespace {

// cann_device.md 6.1 and 6.2, which differ in what is at 20 and 24 to 31. `ffts` has its type in
// bits 5 to 7 in both.
#pragma pack(push, 1)
struct FftsWire {
  std::uint16_t head;
  std::uint16_t magic;
  std::uint16_t stream_id;
  std::uint16_t task_id;
  std::uint64_t reserved;
  std::uint16_t subtask;
  std::uint16_t subtask_id;
  std::uint8_t core;  // blocks: bit 0 is 1 on a vector core
  std::uint8_t ffts;
  std::uint8_t middle[10];
  std::uint64_t total_cycle;
  std::uint64_t reserved_40;
  std::uint64_t pmu[kPmuSlots];
  std::uint64_t start;
  std::uint64_t end;
};
#pragma pack(pop)
static_assert(sizeof(FftsWire) == 128);

enum : unsigned { kContext = 40, kBlock = 41 };
constexpr unsigned kFftsPlus = 4;
enum : unsigned { kSubAic = 0, kSubMixAic = 6, kSubMixAiv = 7 };
constexpr unsigned kOverflow = 1U << 10U;

// The magic is usual, not certain: without it the span must be one.
bool is_sound(std::span<const std::byte> record) {
  FftsWire wire;
  std::memcpy(&wire, record.data(), sizeof(wire));
  if (wire.magic == kDeviceMagic) return true;
  const unsigned function = wire.head & 0x3FU;
  constexpr std::uint64_t kLongest = std::uint64_t{1} << 44;  // ticks
  return (function == kContext || function == kBlock) && wire.start != 0 &&
         wire.start <= wire.end && wire.end - wire.start < kLongest;
}

std::uint64_t time_of(std::span<const std::byte> record) {
  std::uint64_t end;
  std::memcpy(&end, record.data() + offsetof(FftsWire, end), sizeof(end));
  return end;
}

CoreKind kind_of(unsigned ffts_type, unsigned subtask) {
  if (ffts_type == 0 || (ffts_type == kFftsPlus && subtask == kSubAic)) return CoreKind::aic;
  if (ffts_type == kFftsPlus && subtask == kSubMixAic) return CoreKind::mix_aic;
  if (ffts_type == kFftsPlus && subtask == kSubMixAiv) return CoreKind::mix_aiv;
  return CoreKind::aiv;
}

template <typename Counters>
void fill(Counters& counters, const FftsWire& wire, std::uint64_t sequence, bool expanded) {
  const StarsIds ids = stars_ids(wire.stream_id, wire.task_id, 0, expanded);
  counters.end = {wire.end, sequence};
  counters.stream = ids.stream;
  counters.task_number = ids.task_number;
  counters.context = wire.subtask_id;
  counters.kind = kind_of(wire.ffts >> 5U, wire.subtask & 0xFFU);
  counters.values.total_cycles = wire.total_cycle;
  std::memcpy(counters.values.counters.data(), wire.pmu, sizeof(wire.pmu));
}

}  // namespace

RecordFormat ffts_profile_format() {
  RecordFormat format;
  format.kind = "ffts_profile";
  format.bytes = sizeof(FftsWire);
  format.is_sound = is_sound;
  format.unsound_reason = "not a record";
  format.time = time_of;
  return format;
}

FftsRecord read_ffts_record(const StreamRecord& record, bool expanded) {
  FftsWire wire;
  std::memcpy(&wire, record.bytes.data(), sizeof(wire));
  FftsRecord result;
  const unsigned function = wire.head & 0x3FU;
  result.counter = (wire.head >> 6U) & 0xFU;
  if (function == kContext) {
    result.what = FftsRecord::What::task;
    fill(result.task, wire, record.sequence, expanded);
    if (wire.ffts >> 5U != kFftsPlus) result.task.context = kNoContext;
    result.overflowed = (wire.subtask & kOverflow) != 0;
  } else if (function == kBlock) {
    fill(result.block, wire, record.sequence, expanded);
    const bool is_vector_core = (wire.core & 1U) != 0;
    const bool is_secondary = (result.block.kind == CoreKind::mix_aic && is_vector_core) ||
                              (result.block.kind == CoreKind::mix_aiv && !is_vector_core);
    result.what = is_secondary ? FftsRecord::What::block : FftsRecord::What::other_block;
  }
  return result;
}

std::unique_ptr<RawKind> make_ffts_profile_kind(CannImport& import) {
  return make_device_stream_kind(
      import,
      [](const Chip& chip) {
        DeviceStreamKind kind{"ffts_profile", {}, true};
        if (chip.family == ChipFamily::stars) {
          kind.streams.push_back(
              {"ffts_profile.data", &DeviceInputs::ffts_profile, ffts_profile_format()});
        }
        return kind;
      },
      {"ffts_profile.data"});
}

}  // namespace msprof::cann
