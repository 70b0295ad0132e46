// Raw kind npu_module_mem.data: bytes reserved by each software module. Source: cann_system.md 3.
#include <fmt/format.h>

#include "import/cann/counters/counter_tracks.hpp"
#include "store/module_names.hpp"

namespace msprof::cann {

namespace {

struct __attribute__((packed)) ModuleMemWire {
  std::uint32_t module;
  std::uint32_t reserved;
  std::uint64_t host_count;
  std::uint64_t bytes;  // unknown if negative
};
static_assert(sizeof(ModuleMemWire) == 24);

constexpr std::uint32_t kMaxModules = 1024;

bool is_sound_module_mem(std::span<const std::byte> record) {
  return decode<ModuleMemWire>(record).module < kMaxModules;
}

constexpr RecordFormat kModuleMemFormat{"npu_module_mem",
                                        sizeof(ModuleMemWire),
                                        is_sound_module_mem,
                                        "impossible module",
                                        nullptr,
                                        false};

class NpuModuleMemKind : public SliceKind {
 public:
  explicit NpuModuleMemKind(CannImport& import)
      : SliceKind(import, "npu_module_mem.data", kModuleMemFormat) {}

 private:
  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    const auto& clock = import_.session.host_clock();
    if (!clock) {
      context.report.add(FindingId::no_clock, name(), part.name, "no times",
                         "host_start.log is missing, so the times of the samples are unknown");
      return;
    }
    CounterTracks tracks(import_, context, name());
    constexpr std::size_t kNotOpen = SIZE_MAX;
    std::vector<std::size_t> opened(kMaxModules, kNotOpen);
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<ModuleMemWire>(record.bytes);
      std::size_t& track = opened[wire.module];
      if (track == kNotOpen) track = open(tracks, part, wire.module);
      const std::int64_t time_ns = clock->ns(wire.host_count);
      if (!is_time(import_.session, time_ns)) return stream.skip(context, record, kImpossibleTime);
      tracks.add(track, time_ns,
                 wire.bytes > INT64_MAX ? -1 : static_cast<std::int64_t>(wire.bytes));
    });
    tracks.write();
    if (tracks.has_samples())
      tell_unexpected(import_, context, part, name(), {1, 2, 3, 4, 5, 7, 8, 11, 15, 16, 17, 18});
  }

  static std::size_t open(CounterTracks& tracks, const CannPart& part, std::uint32_t module) {
    const std::string_view known = module_name(module);
    return tracks.open({.device = part.device,
                        .subject = known.empty() ? fmt::format("Module {}", module)
                                                 : fmt::format("Module {}", known),
                        .counter = "Total Reserved",
                        .unit = "KB",
                        .number = module,
                        .divisor = 1024});
  }
};

}  // namespace

std::unique_ptr<RawKind> make_npu_module_mem_kind(CannImport& import) {
  return std::make_unique<NpuModuleMemKind>(import);
}

}  // namespace msprof::cann
