// Reads all host streams together, in order of time.
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "base/interrupt.hpp"
#include "base/number.hpp"
#include "import/cann/cann_import.hpp"
#include "import/cann/join/host_association.hpp"
#include "import/cann/join/host_rows.hpp"
#include "import/cann/join/join.hpp"
#include "import/cann/join/runtime_records.hpp"

namespace msprof::cann {

namespace {

constexpr std::uint16_t kDeviceBits = 12;

bool is_npu(const TaskTrackWire& wire) {
  return wire.device >> kDeviceBits == 0;
}

HostTrack make_track(const TaskTrackWire& wire, const HostRows::TaskType& type,
                     std::uint32_t stream, bool has_unique_ids) {
  HostTrack track;
  track.time = wire.head.time;
  track.kernel_hash = wire.kernel_name;
  track.type_name_id = type.name_id;
  track.task_class = type.task_class;
  track.thread = wire.head.thread;
  track.device = wire.device;
  track.stream = stream;
  track.task_number =
      has_unique_ids ? unique_task_id(wire.task_number, wire.batch) : wire.task_number;
  track.has_launch_info = wire.head.data_len == kLaunchDataLen;
  if (!track.has_launch_info) return track;
  if (type.task_class == TaskClass::simt) {
    SimtLaunchWire launch;
    std::memcpy(&launch, wire.launch, sizeof(launch));
    for (std::size_t i = 0; i < 3; ++i) {
      track.grid_dim[i] = launch.grid_dim[i];
      track.block_dim[i] = launch.block_dim[i];
    }
  } else {
    constexpr std::uint8_t kRatioMask = 7;
    KernelLaunchWire launch;
    std::memcpy(&launch, wire.launch, sizeof(launch));
    track.block_num = launch.block_num;
    track.mix_ratio = launch.ratio_and_mode & kRatioMask;
  }
  return track;
}

// The launched tasks of the host in order of time, with their batch. Source: cann_host.md 1.8.3.
class TrackSource {
 public:
  TrackSource(HostInputs& inputs, const CannSession& session)
      : inputs_(inputs),
        stream_(inputs[HostStream::task_track]),
        wide_(inputs[HostStream::task_track_v2]),
        has_batches_(session.has_batch_ids()),
        has_unique_ids_(session.has_unique_task_ids()) {}

  // Reads the slices once to find the flips. `rows` must outlive this.
  void open(const ImportContext& context, HostRows& rows) {
    rows_ = &rows;
    streams_.read(context, wide_);
    stream_.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<TaskTrackWire>(record.bytes);
      if (!is_npu(wire)) {
        add_dpu_kernel(wire);
      } else if (!has_batches_ || wire.type == kMaintenanceType) {
        return;
      } else if (wire.type == kFlipType) {
        batches_.add_flip(wire.device, streams_.find_stream(wire), record.time, wire.task_number,
                          wire.batch == kStreamDestroyed);
      } else {
        batches_.see_task(wire.device, streams_.find_stream(wire), record.time);
      }
    });
    batches_.prepare();
    fetch();
  }

  bool has_next() const { return batches_.has_next(); }
  const HostTrack& peek() const { return batches_.peek(); }
  void next() {
    batches_.next();
    fetch();
  }

 private:
  // Reads until the batch of the next task is known.
  void fetch() {
    while (!batches_.has_next() && !is_finished_) {
      const StreamRecord* record = stream_.peek();
      if (record == nullptr) {
        batches_.finish();
        is_finished_ = true;
        return;
      }
      const auto wire = decode<TaskTrackWire>(record->bytes);
      if (is_npu(wire) && wire.type != kFlipType && wire.type != kMaintenanceType)
        batches_.push(make_track(wire, rows_->task_type(wire.type), streams_.find_stream(wire),
                                 has_unique_ids_));
      stream_.next();
    }
  }

  // Keeps the names of data unit kernels, whose runs are in dpu_track.
  void add_dpu_kernel(const TaskTrackWire& wire) {
    constexpr std::uint16_t kDpu = 1;
    constexpr std::uint16_t kNumberMask = 0x0FFF;
    if (wire.device >> kDeviceBits != kDpu || wire.type == kFlipType) return;
    const std::uint32_t task =
        has_unique_ids_ ? unique_task_id(wire.task_number, wire.batch) : wire.task_number;
    const auto device = static_cast<std::uint16_t>(wire.device & kNumberMask);
    const std::uint64_t name = wire.kernel_name;
    if (name != 0) inputs_.dpu_kernels.insert_or_assign({device, task}, name);
  }

  HostInputs& inputs_;
  RecordStream& stream_;
  RecordStream& wide_;
  WideStreams streams_;
  bool has_batches_;
  bool has_unique_ids_;
  HostRows* rows_ = nullptr;
  HostBatches batches_;
  bool is_finished_ = false;
};

// Returns why the contents of a sound record are impossible; empty if they are possible.
template <typename Wire>
std::string_view why_impossible(const Wire&) {
  return {};
}

std::string_view why_impossible(const TensorInfoWire& wire) {
  return wire.tensor_count > kMaxTensors ? "more than 5 tensors" : std::string_view();
}

std::string_view why_impossible(const ContextIdInfoWire& wire) {
  const bool is_range = wire.head.level == call_level::kCommunication;
  if (!is_range && wire.head.level != call_level::kNode) return "unknown level";
  if (wire.count > kMaxContexts) return "more than 55 contexts";
  // Context ids have 16 bits.
  if (is_range && (wire.count != 2 || wire.ids[0] > wire.ids[1] || wire.ids[1] > UINT16_MAX))
    return "impossible range of contexts";
  return {};
}

std::string_view why_impossible(const FusionOpInfoWire& wire) {
  return wire.count > kMaxFusedOps ? "more than 8 fused operators" : std::string_view();
}

// Returns true for streams that are not read record by record here.
bool has_source(HostStream stream) {
  return stream == HostStream::task_track || stream >= HostStream::api_event;
}

class HostReading {
 public:
  HostReading(CannImport& import, const ImportContext& context, HostTaskStore& tasks);
  void run();

 private:
  void open();
  void limit_calls();
  void step(HostStream source);
  // Returns true if `stream` has the earlier record, or if `other` is no stream. `stream` must have
  // a record.
  bool is_before(std::size_t stream, std::size_t other) const;
  // Updates the next time of a stream.
  void peek(HostStream source);
  void take(HostStream source, const StreamRecord& record);
  // Adds a record to its call, unless its contents are impossible.
  template <typename Wire>
  void attach(HostStream source, const StreamRecord& record);
  void add_fusion(const StreamRecord& record);
  // Adds a record of a runtime call, with the application's call around it.
  template <typename Wire>
  void add_runtime(const StreamRecord& record) {
    const auto wire = decode<Wire>(record.bytes);
    runtime_.add(wire, association_.find_call_at(wire.head, call_level::kAcl));
  }
  void report();
  void report_orphans(HostStream source, std::uint64_t count);
  static std::size_t place(HostStream source) { return static_cast<std::size_t>(source); }

  CannImport& import_;
  const ImportContext& context_;
  HostInputs& inputs_;
  CapturedStreams captured_;
  HostOps& ops_;
  HostRows rows_;
  HostAssociation association_;
  RuntimeRecords runtime_;
  TrackSource tracks_;
  CallSource calls_;
  // Indexed by HostStream.
  std::array<std::uint64_t, kHostStreamCount> times_ = {};
  std::array<bool, kHostStreamCount> has_ = {};
  // number of records that belong to no call
  std::array<std::uint64_t, kHostStreamCount> outside_ = {};
  std::int64_t next_fusion_ = 1;
};

HostOps& make_ops(CannImport& import, const ImportContext& context) {
  auto ops = std::make_unique<HostOps>(context.store, import.dictionaries);
  HostOps& made = *ops;
  import.host.ops = std::move(ops);
  return made;
}

HostReading::HostReading(CannImport& import, const ImportContext& context, HostTaskStore& tasks)
    : import_(import),
      context_(context),
      inputs_(import.host),
      ops_(make_ops(import, context)),
      rows_(context.store, import.dictionaries,
            import.session.host_clock() ? &*import.session.host_clock() : nullptr,
            import.session.info().pid, captured_, import.host.captured_ops,
            import.session.has_unique_task_ids(), ops_, tasks),
      association_(
          rows_, {import.session.info().profile_level == 0, !import.session.has_unique_task_ids()}),
      runtime_(context.store, import.dictionaries,
               import.session.host_clock() ? &*import.session.host_clock() : nullptr,
               !inputs_[HostStream::memmng_info].empty() ||
                   !inputs_[HostStream::memcpy_ext_info].empty() ||
                   !inputs_[HostStream::memset_info].empty()),
      tracks_(inputs_, import.session),
      calls_(inputs_[HostStream::api_event]) {}

void HostReading::open() {
  if (!import_.session.host_clock() && !inputs_[HostStream::api_event].empty()) {
    context_.report.add(FindingId::no_clock, "api_event", "", "no clock data for the host",
                        "the calls have no times and are omitted");
  }
  captured_.read(context_, inputs_[HostStream::capture_stream_info],
                 inputs_[HostStream::capture_stream_info_v2]);
  inputs_.captured_ops.sort();
  tracks_.open(context_, rows_);
  limit_calls();
  calls_.open(context_);
  for (const HostStreamInfo& info : kHostStreams) {
    if (!has_source(info.stream)) inputs_[info.stream].open(context_);
  }
}

// Rejects calls that end more than an hour after the collection.
void HostReading::limit_calls() {
  const CannSession& session = import_.session;
  if (!session.host_clock()) return;
  calls_.set_latest_end(session.host_clock()->latest());
  if (!session.has_end() || session.end_ns() <= session.begin_ns()) return;
  constexpr double kHourNs = 3600e9;
  constexpr double kNsPerSecond = 1e9;
  const ClockStart& start = session.host_clock()->start();
  const double ns = static_cast<double>(saturating_subtract(
                        session.end_ns(), session.host_clock()->ns(start.count))) +
                    kHourNs;
  const double count = static_cast<double>(start.count) +
                       ns * static_cast<double>(start.frequency_hz) / kNsPerSecond;
  constexpr double kMax = 1.8e19;
  if (count > 0 && count < kMax) calls_.set_latest_end(static_cast<std::uint64_t>(count));
}

void HostReading::peek(HostStream source) {
  const std::size_t at = place(source);
  if (source == HostStream::task_track) {
    has_[at] = tracks_.has_next();
    if (has_[at]) times_[at] = tracks_.peek().time;
  } else if (source == HostStream::api_event) {
    has_[at] = !calls_.peek().empty();
    if (has_[at]) times_[at] = calls_.peek().front().wire.head.time;
  } else {
    const StreamRecord* record = inputs_[source].peek();
    has_[at] = record != nullptr;
    if (record != nullptr) times_[at] = record->time;
  }
}

void HostReading::run() {
  open();
  for (const HostStreamInfo& info : kHostStreams) peek(info.stream);
  while (true) {
    // Finds the earliest stream and the one after it; at equal times the first in the table.
    std::size_t first = kHostStreamCount;
    std::size_t second = kHostStreamCount;
    for (std::size_t at = 0; at < kHostStreamCount; ++at) {
      if (!has_[at]) continue;
      if (first == kHostStreamCount || times_[at] < times_[first]) {
        second = std::exchange(first, at);
      } else if (second == kHostStreamCount || times_[at] < times_[second]) {
        second = at;
      }
    }
    if (first == kHostStreamCount) break;
    do {
      step(static_cast<HostStream>(first));
      peek(static_cast<HostStream>(first));
    } while (has_[first] && is_before(first, second));
  }
  association_.finish();
  report();
}

bool HostReading::is_before(std::size_t stream, std::size_t other) const {
  if (other == kHostStreamCount) return true;
  return times_[stream] != times_[other] ? times_[stream] < times_[other] : stream < other;
}

void HostReading::step(HostStream source) {
  if (source == HostStream::task_track) {
    association_.add_task(tracks_.peek());
    tracks_.next();
  } else if (source == HostStream::api_event) {
    for (const auto& call : calls_.peek()) {
      const HostCall made = rows_.add(call.wire);
      association_.add_call(made);
      runtime_.add_call(made);
    }
    calls_.next(context_);
  } else {
    RecordStream& records = inputs_[source];
    take(source, *records.peek());
    records.next();
  }
}

template <typename Wire>
void HostReading::attach(HostStream source, const StreamRecord& record) {
  const HostRecord<Wire> taken{decode<Wire>(record.bytes), record.sequence, record.is_unaging};
  if (const auto why = why_impossible(taken.wire); !why.empty()) {
    inputs_[source].skip(context_, record, why);
  } else if (!association_.add(taken)) {
    ++outside_[place(source)];
  }
}

void HostReading::take(HostStream source, const StreamRecord& record) {
  switch (source) {
    case HostStream::memcpy_info:
      association_.add_copy(decode<MemcpyInfoWire>(record.bytes));
      break;
    case HostStream::node_basic_info:
      attach<NodeBasicInfoWire>(source, record);
      break;
    case HostStream::node_attr_info:
      attach<NodeAttrInfoWire>(source, record);
      break;
    case HostStream::tensor_info:
      attach<TensorInfoWire>(source, record);
      break;
    case HostStream::context_id_info:
      attach<ContextIdInfoWire>(source, record);
      break;
    case HostStream::hccl_info:
      attach<HcclInfoWire>(source, record);
      break;
    case HostStream::hccl_op_info:
      attach<HcclOpInfoWire>(source, record);
      break;
    case HostStream::fusion_op_info:
      add_fusion(record);
      break;
    case HostStream::memmng_info:
      add_runtime<MemmngInfoWire>(record);
      break;
    case HostStream::memcpy_ext_info:
      add_runtime<MemcpyExtInfoWire>(record);
      break;
    case HostStream::memset_info:
      add_runtime<MemsetInfoWire>(record);
      break;
    // Read by separate sources.
    case HostStream::task_track:
    case HostStream::api_event:
    case HostStream::capture_stream_info:
    case HostStream::capture_stream_info_v2:
    case HostStream::task_track_v2:
      break;
  }
}

void HostReading::add_fusion(const StreamRecord& record) {
  const auto wire = decode<FusionOpInfoWire>(record.bytes);
  if (const auto why = why_impossible(wire); !why.empty()) {
    inputs_[HostStream::fusion_op_info].skip(context_, record, why);
    return;
  }
  const HostCall* model = association_.find_call_at(wire.head, call_level::kModel);
  if (model == nullptr) {
    ++outside_[place(HostStream::fusion_op_info)];
    return;
  }
  FusionOpRow row;
  row.id = next_fusion_++;
  row.model_number = cell(model->item);
  const auto name = inputs_.model_names.find(static_cast<std::uint32_t>(model->item));
  if (name != inputs_.model_names.end() && model->item == name->first)
    row.model_name_id = import_.dictionaries.hash_name_id(context_.store, name->second);
  row.name_id = import_.dictionaries.hash_name_id(context_.store, wire.name);
  std::string names;
  for (std::uint32_t i = 0; i < wire.count; ++i) {
    if (i > 0) names += ';';
    names += import_.dictionaries.hash_text(wire.names[i]);
  }
  row.original_names_name_id = context_.store.name_id(names);
  row.input_bytes = cell(wire.input_bytes);
  row.output_bytes = cell(wire.output_bytes);
  row.weight_bytes = cell(wire.weight_bytes);
  row.workspace_bytes = cell(wire.workspace_bytes);
  row.total_bytes = cell(wire.total_bytes);
  context_.store.add(row);
}

void HostReading::report_orphans(HostStream source, std::uint64_t count) {
  // If the oldest records were deleted, so may be the calls of these records; that loss is already
  // reported.
  if (count == 0 || import_.session.lacks_oldest()) return;
  const HostStreamInfo& info = host_stream_info(source);
  context_.report.add(FindingId::orphan_records, info.stem, "", std::string(info.orphan), "",
                      static_cast<std::int64_t>(count));
}

void HostReading::report() {
  runtime_.report(context_.report);
  for (const HostStreamInfo& info : kHostStreams)
    report_orphans(info.stream, outside_[place(info.stream)]);
  report_orphans(HostStream::task_track, association_.orphan_comm_tasks());
  if (ops_.odd_tensors() > 0) {
    context_.report.add(FindingId::odd_tensors, "tensor_info", "",
                        "tensor that is neither input nor output", "",
                        static_cast<std::int64_t>(ops_.odd_tensors()));
  }
}

}  // namespace

void begin_host(CannImport& import) {
  for (const HostStreamInfo& info : kHostStreams) {
    import.host[info.stream].read_ahead(import.ahead);
    if (!has_source(info.stream)) import.host[info.stream].scan_ahead();
  }
}

void join_host(CannImport& import, const ImportContext& context, HostTaskStore& tasks) {
  HostReading(import, context, tasks).run();
}

}  // namespace msprof::cann
