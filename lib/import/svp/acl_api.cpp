// Raw kind acl_api: one record per call of the application's API. A board writes a ring buffer of
// 512 records; our reference format (MSVP header) has no limit. Source: svp_job.md 6, 7.4.
#include <fmt/format.h>

#include <array>
#include <map>

#include "import/svp/svp_data_file.hpp"
#include "import/svp/svp_models.hpp"

namespace msprof::svp {

namespace {

using CallSlots = std::array<std::int64_t, kAclApiFields.size()>;

constexpr std::uint64_t kRingRecords = 512;

class AclApiKind : public RawKind {
 public:
  explicit AclApiKind(SvpModels& models) : models_(models) {}

  std::string_view name() const override { return kind_name(SvpFileKind::acl_api); }
  bool owns(const RawFile& file) const override {
    return models_.parsed_name(file).kind == SvpFileKind::acl_api;
  }

  void import(const ImportContext& context, const RawFile& file) override {
    auto data = open_data_file(context, file, SvpFileKind::acl_api, ReferenceKind::acl_api);
    if (!data) return;
    models_.note_layout(SvpFileKind::acl_api, data->has_reference_header);
    Call call;
    call.model_row = models_.model_row(models_.parsed_name(file));
    if (file.done) {
      call.process_id = file.done->integer("pid").value_or(kNull);
      call.thread_id = file.done->integer("tid").value_or(kNull);
    }
    std::uint64_t kept = 0;
    std::uint64_t records = 0;
    std::int64_t unknown_apis = 0;
    CallSlots slots;
    DecodeState& state = states_[call.model_row];
    const std::uint64_t trailing =
        for_each_written_record(*data, [&](auto record, std::uint64_t offset) {
          ++records;
          if (!data->layout->selects(record)) return;
          std::string_view why = "value out of range";
          if (data->layout->decode(record, slots, state) == DecodedRecord::row) {
            add_end(slots[kCallStart], slots[kCallDuration], slots[kCallEnd]);
            why = why_impossible_span(slots[kCallStart], slots[kCallEnd]);
          }
          if (!why.empty()) {
            context.report.skip_record(name(), file.name, why, offset);
            return;
          }
          ++kept;
          if (!add_call(context.store, *data->layout, call, slots)) ++unknown_apis;
        });
    report_trailing(context, file, SvpFileKind::acl_api, trailing, file.size_bytes);
    context.report.count_file(name(), kept);
    report_ring(context, file, *data, records);
    if (unknown_apis > 0)
      context.report.add(FindingId::unknown_apis, name(), file.name, "unknown api ids",
                         "shown as api_<id>", unknown_apis);
  }

 private:
  struct Call {
    std::int64_t model_row = kNull;
    std::int64_t process_id = kNull;
    std::int64_t thread_id = kNull;
  };

  // Returns false for an API id without a name.
  bool add_call(TraceDbWriter& store, const RecordLayout& layout, const Call& call,
                const CallSlots& slots) {
    const auto known = layout.api_names.find(slots[kCallApiId]);
    const bool is_known = known != layout.api_names.end();
    const std::string api = is_known                     ? known->second.name
                            : slots[kCallApiId] == kNull ? std::string("N/A")
                                                         : fmt::format("api_{}", slots[kCallApiId]);
    const bool has_thread = slots[kCallThreadId] != kNull && slots[kCallThreadId] != 0;
    store.add(ApiCallRow{models_.next_call_id(), call.model_row, call.process_id,
                         has_thread ? slots[kCallThreadId] : call.thread_id,
                         store.name_id(is_known ? known->second.type : "N/A"), store.name_id(api),
                         slots[kCallStart], slots[kCallEnd]});
    return is_known;
  }

  void report_ring(const ImportContext& context, const RawFile& file, const SvpDataFile& data,
                   std::uint64_t records) {
    if (data.has_reference_header || records < kRingRecords) return;
    if (records == kRingRecords) {
      context.report.add(FindingId::full_ring, name(), file.name,
                         "ring buffer of 512 records is full", "older calls were overwritten");
    } else {
      context.report.add(FindingId::too_many_calls, name(), file.name,
                         "more records than the board's ring buffer can hold",
                         fmt::format("{} records; the layout may be wrong", records));
    }
  }

  SvpModels& models_;
  std::map<std::int64_t, DecodeState> states_;  // by model
};

}  // namespace

std::unique_ptr<RawKind> make_acl_api_kind(SvpModels& models) {
  return std::make_unique<AclApiKind>(models);
}

}  // namespace msprof::svp
