// Raw kind aicpu: one record per execution of a CPU operator. Source: svp_job.md 7.3, 7.5.
#include <array>
#include <map>

#include "import/svp/svp_data_file.hpp"

namespace msprof::svp {

namespace {

using CpuSlots = std::array<std::int64_t, kAicpuFields.size()>;

class AicpuKind : public RawKind {
 public:
  explicit AicpuKind(SvpModels& models) : models_(models) {}

  std::string_view name() const override { return kind_name(SvpFileKind::aicpu); }
  bool owns(const RawFile& file) const override {
    return models_.parsed_name(file).kind == SvpFileKind::aicpu;
  }

  void import(const ImportContext& context, const RawFile& file) override {
    if (file.done)
      models_.set_pictures(models_.parsed_name(file), file.done->integer("input_pic_num"));
    auto data = open_data_file(context, file, SvpFileKind::aicpu, ReferenceKind::aicpu);
    if (!data) return;
    models_.note_layout(SvpFileKind::aicpu, data->has_reference_header);
    TaskRun run(context, models_, file, kCpu);
    CpuSlots slots;
    DecodeState& state = states_[models_.model_row(models_.parsed_name(file))];
    const std::uint64_t trailing =
        for_each_written_record(*data, [&](auto record, std::uint64_t offset) {
          if (!data->layout->selects(record)) return;
          const auto why = decode(*data->layout, record, slots, state) ? why_impossible(slots)
                                                                       : "value out of range";
          if (!why.empty()) {
            context.report.skip_record(name(), file.name, why, offset);
            return;
          }
          const std::int64_t op = run.op_row(slots[kCpuLayerId]);
          const bool has_span = slots[kCpuStart] != kNull && slots[kCpuEnd] != kNull;
          const std::int64_t number =
              slots[kCpuExecution] == kNull ? run.count_execution(op) : slots[kCpuExecution];
          context.store.add(TaskRow{models_.next_task_id(), run.step_row(), op, slots[kCpuStart],
                                    has_span ? slots[kCpuEnd] - slots[kCpuStart] : kNull, number,
                                    slots[kCpuThreadId]});
        });
    report_trailing(context, file, SvpFileKind::aicpu, trailing, file.size_bytes);
    run.finish(name());
  }

 private:
  static bool decode(const RecordLayout& layout, std::span<const std::byte> record, CpuSlots& slots,
                     DecodeState& state) {
    if (layout.decode(record, slots, state) != DecodedRecord::row) return false;
    add_end(slots[kCpuStart], slots[kCpuDuration], slots[kCpuEnd]);
    return true;
  }

  static std::string_view why_impossible(const CpuSlots& slots) {
    if (slots[kCpuLayerId] != kNull && slots[kCpuLayerId] > kMaxLayerId)
      return "layer_id above 1000000";
    return why_impossible_span(slots[kCpuStart], slots[kCpuEnd]);
  }

  SvpModels& models_;
  std::map<std::int64_t, DecodeState> states_;  // by model
};

}  // namespace

std::unique_ptr<RawKind> make_aicpu_kind(SvpModels& models) {
  return std::make_unique<AicpuKind>(models);
}

}  // namespace msprof::svp
