// Raw kind aicore: one record per layer and execution on the NPU cores, with its counters. Source:
// svp_job.md 7.2, 7.5.
#include <array>
#include <map>

#include "base/number.hpp"
#include "import/svp/svp_data_file.hpp"

namespace msprof::svp {

namespace {

constexpr std::size_t kUnits = kCoreDdrRead - kCoreFirstUnit;
using CoreSlots = std::array<std::int64_t, kAicoreFields.size()>;

constexpr std::string_view kBeginWithoutEnd = "begin of a layer without its end";

// Columns of task_pmu, from c0: total cycles, units, DDR bytes.
constexpr std::array<std::string_view, 11> kCounters = {
    "total_cycles",    "mac_busy_cycles", "mac_ppen_cycles", "vec_busy_cycles",
    "vec_ppen_cycles", "dstr_cycles",     "dtrans_cycles",   "dld_cycles",
    "wld_cycles",      "ddr_read_bytes",  "ddr_write_bytes"};
static_assert(kCounters.size() == 3 + kUnits && kCounters.size() <= LayerTimeRow::kCounters);

// Converts cycles to ns, rounded half away from zero. Returns more than kMaxDurationNs on overflow.
std::int64_t duration_ns(std::int64_t cycles, std::int64_t frequency_hz) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  if (frequency_hz == kNsPerSecond) return cycles;
  // 2^33 cycles times 1e9 still fit 64 bits.
  if (cycles < (std::int64_t{1} << 33)) {
    const auto product = static_cast<std::uint64_t>(cycles) * kNsPerSecond;
    const auto hz = static_cast<std::uint64_t>(frequency_hz);
    const std::uint64_t quotient = product / hz;
    return static_cast<std::int64_t>(product % hz >= hz - product % hz ? quotient + 1 : quotient);
  }
  const int128 ns = divide_rounded(static_cast<int128>(cycles) * kNsPerSecond, frequency_hz);
  return ns > kMaxDurationNs ? kMaxDurationNs + 1 : static_cast<std::int64_t>(ns);
}

// Returns why a record is impossible; empty if it is possible.
std::string_view why_impossible(const CoreSlots& slots, std::int64_t duration) {
  if (slots[kCoreLayerId] != kNull && slots[kCoreLayerId] > kMaxLayerId)
    return "layer_id above 1000000";
  const std::int64_t total = slots[kCoreTotalCycles];
  if (total != kNull) {
    for (std::size_t unit = kCoreFirstUnit; unit < kCoreDdrRead; ++unit) {
      if (slots[unit] != kNull && slots[unit] > total) return "unit cycles above total cycles";
    }
  }
  const bool too_long = duration == kNull ? total > kMaxDurationNs : duration > kMaxDurationNs;
  if (too_long) return "duration above 2^53 ns";
  return why_impossible_span(slots[kCoreStart], slots[kCoreEnd]);
}

// Computes the duration from cycles, which are finer than the times of most clocks; if there are no
// cycles, from the times.
std::int64_t compute_duration(const CoreSlots& slots, std::optional<std::int64_t> frequency_hz) {
  if (frequency_hz && slots[kCoreTotalCycles] != kNull)
    return duration_ns(slots[kCoreTotalCycles], *frequency_hz);
  if (slots[kCoreDuration] != kNull) return slots[kCoreDuration];
  if (slots[kCoreStart] == kNull || slots[kCoreEnd] == kNull || slots[kCoreEnd] < slots[kCoreStart])
    return kNull;
  return slots[kCoreEnd] - slots[kCoreStart];
}

class AicoreKind : public RawKind {
 public:
  explicit AicoreKind(SvpModels& models) : models_(models) {}

  std::string_view name() const override { return kind_name(SvpFileKind::aicore); }
  bool owns(const RawFile& file) const override {
    return models_.parsed_name(file).kind == SvpFileKind::aicore;
  }

  void import(const ImportContext& context, const RawFile& file) override {
    const SvpFileName& file_name = models_.parsed_name(file);
    if (file.done) {
      models_.set_pictures(file_name, file.done->integer("input_pic_num"));
      models_.add_icache(file_name, file.done->integer("cache_hit"),
                         file.done->integer("cache_mis"));
    }
    auto data = open_data_file(context, file, SvpFileKind::aicore, ReferenceKind::aicore);
    if (!data) return;
    models_.note_layout(SvpFileKind::aicore, data->has_reference_header);
    TaskRun run(context, models_, file, kCore);
    const auto frequency =
        data->layout->cycle_hz ? data->layout->cycle_hz : models_.frequency_hz(file_name.device);
    CoreSlots slots;
    // The clock goes on in the next file of a model. Files of another model are not in order of
    // time.
    DecodeState& state = states_[models_.model_row(file_name)];
    state.begins.clear();
    const std::uint64_t trailing =
        for_each_written_record(*data, [&](auto record, std::uint64_t offset) {
          if (!data->layout->selects(record)) return;
          const DecodedRecord decoded = data->layout->decode(record, slots, state);
          if (decoded == DecodedRecord::half_row) return;
          if (decoded == DecodedRecord::second_begin) {
            context.report.skip_record(name(), file.name, kBeginWithoutEnd, offset);
            return;
          }
          if (decoded == DecodedRecord::impossible) {
            context.report.skip_record(name(), file.name, "value out of range", offset);
            return;
          }
          const std::int64_t duration = compute_duration(slots, frequency);
          const auto why = why_impossible(slots, duration);
          if (!why.empty()) {
            context.report.skip_record(name(), file.name, why, offset);
            return;
          }
          add_task(context.store, run, slots, duration);
        });
    for (std::size_t i = 0; i < state.begins.size(); ++i)
      context.report.skip_record(name(), file.name, kBeginWithoutEnd, file.size_bytes);
    report_trailing(context, file, SvpFileKind::aicore, trailing, file.size_bytes);
    run.finish(name());
  }

  void finish(const ImportContext& context) override {
    std::int64_t column = 0;
    for (const auto counter : kCounters) {
      context.store.add(PmuColumnRow{column++, context.store.name_id(counter)});
    }
  }

 private:
  void add_task(TraceDbWriter& store, TaskRun& run, const CoreSlots& slots, std::int64_t duration) {
    const std::int64_t op = run.op_row(slots[kCoreLayerId]);
    TaskPmuRow pmu;
    pmu.task_id = models_.next_task_id();
    for (std::size_t i = 0; i < kCounters.size(); ++i) pmu.c[i] = slots[kCoreTotalCycles + i];
    const std::int64_t number =
        slots[kCoreExecution] == kNull ? run.count_execution(op) : slots[kCoreExecution];
    store.add(TaskRow{pmu.task_id, run.step_row(), op, slots[kCoreStart], duration, number, kNull});
    store.add(pmu);
  }

  SvpModels& models_;
  std::map<std::int64_t, DecodeState> states_;  // by model
};

}  // namespace

std::unique_ptr<RawKind> make_aicore_kind(SvpModels& models) {
  return std::make_unique<AicoreKind>(models);
}

}  // namespace msprof::svp
