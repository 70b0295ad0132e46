// Raw kinds AclModule.*, runtime.api, runtime.task_track and Msprof.msproftx: calls of the
// application, and the ranges that it named. Source: cann5_classic.md 7.
#include <array>

#include "import/old/old_import.hpp"

namespace msprof::old {

namespace {

using cann::RecordFormat;
using cann::RecordStream;
using cann::StreamRecord;

constexpr RecordFormat kAclCallFormat{"acl_call", sizeof(AclCallWire), has_tag<kAclCallTag>};
constexpr RecordFormat kRuntimeCallFormat{"runtime_api", sizeof(RuntimeCallWire),
                                          has_tag<kRuntimeCallTag>};
constexpr RecordFormat kTaskTrackFormat{"task_track", sizeof(OldTaskTrackWire),
                                        has_tag<kTaskTrackTag>};
constexpr RecordFormat kTxFormat{"msproftx", sizeof(OldTxWire), has_tag<kTxTag>};

class AclCallKind : public OldKind {
 public:
  explicit AclCallKind(CannImport& import) : OldKind(import, "AclModule", kAclCallFormat) {}

  bool owns(const RawFile& file) const override {
    const std::string_view stem = import_.session.parsed_name(file).stem;
    return stem.starts_with("AclModule.acl_");
  }

 private:
  void read(const ImportContext& context, const CannPart&, RecordStream& stream) override {
    constexpr std::array<std::string_view, 5> kKinds = {"", "ACL_OP", "ACL_MODEL", "ACL_RTS",
                                                        "ACL_OTHERS"};
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = cann::decode<AclCallWire>(record.bytes);
      if (!are_possible({wire.begin_ns, wire.end_ns}))
        return stream.skip(context, record, cann::kImpossibleTime);
      ApiCallRow call;
      call.process_id = wire.process;
      call.thread_id = wire.thread;
      call.level = call_level::kAcl;
      call.type_name_id = context.store.name_id(wire.kind > 0 && wire.kind < kKinds.size()
                                                    ? std::string(kKinds[wire.kind])
                                                    : std::to_string(wire.kind));
      call.name_id = context.store.name_id(cann::fixed_text(&wire.name[0], sizeof(wire.name)));
      call.start_ns = wall_ns(wire.begin_ns);
      call.end_ns = wall_ns(wire.end_ns);
      data().add(call);
    });
  }
};

// Compares a file stem whose first letter may be upper or lower case.
bool is_runtime_stem(std::string_view stem, std::string_view rest) {
  return !stem.empty() && (stem[0] == 'r' || stem[0] == 'R') && stem.substr(1) == rest;
}

class RuntimeCallKind : public OldKind {
 public:
  explicit RuntimeCallKind(CannImport& import)
      : OldKind(import, "runtime.api", kRuntimeCallFormat) {}

  bool owns(const RawFile& file) const override {
    return is_runtime_stem(import_.session.parsed_name(file).stem, "untime.api");
  }

 private:
  void read(const ImportContext& context, const CannPart&, RecordStream& stream) override {
    constexpr std::uint32_t kMaxTasks = 10;
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = cann::decode<RuntimeCallWire>(record.bytes);
      if (wire.task_count > kMaxTasks)
        return stream.skip(context, record, "more tasks than fit in the record");
      if (!are_possible({wire.begin_ns, wire.end_ns}))
        return stream.skip(context, record, cann::kImpossibleTime);
      ApiCallRow call;
      call.process_id = import_.session.info().pid;
      call.thread_id = wire.thread;
      call.level = call_level::kRuntime;
      call.type_name_id = call.name_id =
          context.store.name_id(cann::fixed_text(&wire.name[0], sizeof(wire.name)));
      call.start_ns = wall_ns(wire.begin_ns);
      call.end_ns = wall_ns(wire.end_ns);
      CallDetailRow detail;
      detail.stream_id = wire.stream;
      detail.size_bytes = cann::cell(wire.bytes);
      detail.direction = wire.direction;
      detail.result = wire.result;
      data().add(call, detail);
    });
  }
};

class OldTaskTrackKind : public OldKind {
 public:
  explicit OldTaskTrackKind(CannImport& import)
      : OldKind(import, "runtime.task_track", kTaskTrackFormat) {}

  bool owns(const RawFile& file) const override {
    return is_runtime_stem(import_.session.parsed_name(file).stem, "untime.task_track");
  }

 private:
  // If a task has several records, the last one is used: its number was reused.
  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    auto& kinds = data().devices[device_or_zero(part)].task_kinds;
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = cann::decode<OldTaskTrackWire>(record.bytes);
      kinds[std::uint64_t{wire.stream} << 16 | wire.task] =
          context.store.name_id(cann::fixed_text(&wire.kind[0], sizeof(wire.kind)));
    });
  }
};

class OldMsprofTxKind : public OldKind {
 public:
  explicit OldMsprofTxKind(CannImport& import) : OldKind(import, "Msprof.msproftx", kTxFormat) {}

 private:
  void read(const ImportContext& context, const CannPart&, RecordStream& stream) override {
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = cann::decode<OldTxWire>(record.bytes);
      if (!are_possible({wire.start_ns, wire.end_ns}))
        return stream.skip(context, record, cann::kImpossibleTime);
      UserRangeRow row;
      row.id = ++data().ranges;
      row.process_id = wire.process;
      row.thread_id = wire.thread;
      row.category = wire.category;
      row.event_type = wire.event;
      row.payload_type = wire.payload_type;
      row.payload_value = cann::cell(wire.payload);
      row.start_ns = row.vendor_start_ns = wall_ns(wire.start_ns);
      row.end_ns = row.vendor_end_ns = wall_ns(wire.end_ns);
      row.message_type = wire.message_type;
      row.message_name_id =
          context.store.name_id(cann::fixed_text(&wire.message[0], sizeof(wire.message)));
      context.store.add(row);
    });
  }
};

}  // namespace

std::unique_ptr<RawKind> make_acl_call_kind(CannImport& import) {
  return std::make_unique<AclCallKind>(import);
}
std::unique_ptr<RawKind> make_runtime_call_kind(CannImport& import) {
  return std::make_unique<RuntimeCallKind>(import);
}
std::unique_ptr<RawKind> make_old_task_track_kind(CannImport& import) {
  return std::make_unique<OldTaskTrackKind>(import);
}
std::unique_ptr<RawKind> make_old_msproftx_kind(CannImport& import) {
  return std::make_unique<OldMsprofTxKind>(import);
}

}  // namespace msprof::old
