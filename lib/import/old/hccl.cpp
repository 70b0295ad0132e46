// Raw kind HCCL.hcom_*: tasks of collectives, as planned by the communication library. Source:
// cann5_classic.md 7. The layout is taken from a header file; no capture was seen.
#include <algorithm>
#include <cmath>

#include "import/old/old_import.hpp"

namespace msprof::old {

namespace {

using cann::RecordStream;
using cann::StreamRecord;

constexpr cann::RecordFormat kHcclFormat{"hccl", sizeof(HcclWire), has_tag<kHcclTag>};
constexpr std::string_view kPrefix = "HCCL.";

// Rounds to an integer; null if it does not fit or is not a number.
std::int64_t whole(double value) {
  constexpr double kMax = 9.2e18;
  return value > -kMax && value < kMax ? std::llround(value) : kNull;
}

class OldHcclKind : public OldKind {
 public:
  explicit OldHcclKind(CannImport& import) : OldKind(import, "HCCL", kHcclFormat) {}

  bool owns(const RawFile& file) const override {
    return import_.session.parsed_name(file).stem.starts_with(kPrefix);
  }

  // The file name contains the name of the collective.
  void import(const ImportContext& context, const RawFile& file) override {
    names_[import_.session.find_part(file).name].push_back(import_.session.parsed_name(file).stem);
    OldKind::import(context, file);
  }

 private:
  // Called once per part and stem, in sorted order.
  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    auto& names = names_[part.name];
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::size_t& next = next_[part.name];
    std::string name =
        next < names.size() ? names[next++].substr(kPrefix.size()) : std::string("N/A");
    constexpr std::string_view kHost = "host.";  // in JOB folders
    if (name.starts_with(kHost)) name.erase(0, kHost.size());
    auto& tasks = data().devices[device_or_zero(part)].comm_tasks;
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = cann::decode<HcclWire>(record.bytes);
      const std::int64_t start = start_time_ns(wire);
      if (start < 0 || !are_possible({static_cast<std::uint64_t>(start)}))
        return stream.skip(context, record, cann::kImpossibleTime);
      tasks.push_back(make_task(context, wire, name));
    });
  }

  // In ns; negative if invalid.
  static std::int64_t start_time_ns(const HcclWire& wire) { return whole(wire.time_us * 1e3); }

  OldCommTask make_task(const ImportContext& context, const HcclWire& wire,
                        const std::string& collective) const {
    const std::string_view name = cann::fixed_text(&wire.name[0], sizeof(wire.name));
    OldCommTask task;
    task.stream = wire.stream;
    CommCallRow& call = task.call;
    call.op_name_id = context.store.name_id(collective);
    // The type is the part before the numbers in, for example, "hcom_allReduce_1_1_1".
    const std::size_t digits = collective.find_first_of("0123456789");
    call.op_type_name_id = context.store.name_id(collective.substr(0, digits));
    call.item_name_id = context.store.name_id(name);
    call.plane_id = wire.plane;
    call.is_master = 1;  // the records do not show which task represents the collective
    double estimated_us = 0;
    if (name.starts_with("Notify")) {
      const auto part = decode_rest<HcclNotifyWire>(wire);
      task.task = part.task;
      call.notify_id = cann::cell(part.notify);
      call.remote_rank = part.rank;
      call.transport_type = part.transport;
      estimated_us = part.estimated_us;
    } else if (name.starts_with("Reduce")) {
      const auto part = decode_rest<HcclReduceWire>(wire);
      task.task = part.task;
      call.size_bytes = cann::cell(part.bytes);
      call.data_type = part.data_type;
      call.link_type = part.link;
      call.remote_rank = part.rank;
      call.transport_type = part.transport;
      estimated_us = part.estimated_us;
    } else if (name.starts_with("RDMA")) {
      const auto part = decode_rest<HcclRdmaWire>(wire);
      estimated_us = take_copy(task, part, part.estimated_us);
      call.rdma_type = part.type;
    } else if (name.starts_with("Memcpy")) {
      const auto part = decode_rest<HcclCopyWire>(wire);
      estimated_us = take_copy(task, part, part.estimated_us);
    }
    call.duration_estimated_ps = whole(estimated_us * 1e6);
    task.duration_ns = std::max<std::int64_t>(whole(estimated_us * 1e3), 0);
    call.host_count = start_time_ns(wire);
    task.start_ns = wall_ns(static_cast<std::uint64_t>(call.host_count));
    return task;
  }

  template <typename Rest>
  static Rest decode_rest(const HcclWire& wire) {
    static_assert(sizeof(Rest) <= sizeof(wire.rest));
    Rest rest;
    std::memcpy(&rest, &wire.rest[0], sizeof(rest));
    return rest;
  }

  template <typename Copy>
  static double take_copy(OldCommTask& task, const Copy& part, double estimated_us) {
    task.task = part.task;
    task.call.size_bytes = cann::cell(part.bytes);
    task.call.notify_id = cann::cell(part.notify);
    task.call.link_type = part.link;
    task.call.remote_rank = part.rank;
    task.call.transport_type = part.transport;
    return estimated_us;
  }

  std::map<std::string, std::vector<std::string>> names_;  // stems of each part
  std::map<std::string, std::size_t> next_;
};

}  // namespace

std::unique_ptr<RawKind> make_old_hccl_kind(CannImport& import) {
  return std::make_unique<OldHcclKind>(import);
}

}  // namespace msprof::old
