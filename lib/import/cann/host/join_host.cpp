// Reads the host's streams side by side, in order of time.
#include <array>
#include <memory>
#include <string>

#include "base/interrupt.hpp"
#include "import/cann/cann_kinds.hpp"
#include "import/cann/host/host_decode.hpp"
#include "import/cann/host/host_rows.hpp"
#include "import/cann/host/track_source.hpp"
#include "import/cann/join/host_association.hpp"

namespace msprof::cann {

namespace {

// The streams in the order in which records of one moment are taken.
enum Source : std::size_t {
  copies,
  tracks,
  basics,
  attributes,
  tensors,
  contexts,
  comm_tasks,
  comm_ops,
  fusions,
  calls,
  kSources
};

class HostReading {
 public:
  HostReading(CannImport& import, const ImportContext& context, HostTaskStore& tasks);
  void run();

 private:
  void open();
  void limit_calls();
  void step(Source source);
  // The next moment of a source.
  void look(Source source);
  RecordStream& stream(Source source);
  void take(Source source, const StreamRecord& record);
  template <typename Record>
  void attach(Source source, const StreamRecord& record, const Decoded<Record>& decoded);
  void add_fusion(const StreamRecord& record);
  void report();

  CannImport& import_;
  const ImportContext& context_;
  HostInputs& inputs_;
  CapturedStreams captured_;
  HostOps& ops_;
  HostRows rows_;
  HostAssociation association_;
  TrackSource tracks_;
  CallSource calls_;
  std::array<std::uint64_t, kSources> times_ = {};
  std::array<bool, kSources> has_ = {};
  std::array<std::int64_t, kSources> outside_ = {};  // records that no call takes
  std::int64_t next_fusion_ = 1;
};

HostOps& make_ops(CannImport& import, const ImportContext& context) {
  auto ops = std::make_unique<HostOps>(context.store, import.dictionaries);
  HostOps& made = *ops;
  import.host.ops = std::move(ops);
  return made;
}

bool is_v6(const CannSession& session) {
  return session.chip() && session.chip()->family == ChipFamily::stars_v6;
}

HostReading::HostReading(CannImport& import, const ImportContext& context, HostTaskStore& tasks)
    : import_(import),
      context_(context),
      inputs_(import.host),
      ops_(make_ops(import, context)),
      rows_(context.store, import.dictionaries,
            import.session.host_clock() ? &*import.session.host_clock() : nullptr,
            import.session.info().pid, captured_, ops_, tasks),
      association_(rows_, {import.session.info().profile_level == 0, !is_v6(import.session)}),
      tracks_(inputs_.task_track, import.session.has_batch_ids() && !is_v6(import.session)),
      calls_(inputs_.api_event) {}

RecordStream& HostReading::stream(Source source) {
  switch (source) {
    case copies:
      return inputs_.memcpy_info;
    case basics:
      return inputs_.node_basic_info;
    case attributes:
      return inputs_.node_attr_info;
    case tensors:
      return inputs_.tensor_info;
    case contexts:
      return inputs_.context_id_info;
    case comm_tasks:
      return inputs_.hccl_info;
    case comm_ops:
      return inputs_.hccl_op_info;
    default:
      return inputs_.fusion_op_info;
  }
}

void HostReading::open() {
  if (!import_.session.host_clock() && !inputs_.api_event.empty()) {
    context_.report.add(FindingId::no_clock, "api_event", "", "no clock of the host",
                        "the calls have no times and are left out");
  }
  captured_.read(context_, inputs_.capture_stream_info);
  tracks_.open(context_, rows_);
  limit_calls();
  calls_.open(context_);
  for (const Source source :
       {copies, basics, attributes, tensors, contexts, comm_tasks, comm_ops, fusions}) {
    stream(source).open(context_);
  }
}

// A call that ends an hour after the collection did not.
void HostReading::limit_calls() {
  const CannSession& session = import_.session;
  if (!session.host_clock() || !session.has_end() || session.end_ns() <= session.begin_ns()) return;
  constexpr double kHourNs = 3600e9;
  constexpr double kNsPerSecond = 1e9;
  const ClockStart& start = session.host_clock()->start();
  const double ns =
      static_cast<double>(session.end_ns() - session.host_clock()->ns(start.count)) + kHourNs;
  const double count = static_cast<double>(start.count) +
                       ns * static_cast<double>(start.frequency_hz) / kNsPerSecond;
  constexpr double kMost = 1.8e19;
  if (count > 0 && count < kMost) calls_.set_latest_end(static_cast<std::uint64_t>(count));
}

void HostReading::look(Source source) {
  if (source == tracks) {
    has_[source] = tracks_.has_front();
    if (has_[source]) times_[source] = tracks_.front().time;
  } else if (source == calls) {
    has_[source] = !calls_.front().empty();
    if (has_[source]) times_[source] = calls_.front().front().begin;
  } else {
    const StreamRecord* record = stream(source).front();
    has_[source] = record != nullptr;
    if (record != nullptr) times_[source] = record->time;
  }
}

void HostReading::run() {
  open();
  for (std::size_t source = 0; source < kSources; ++source) look(static_cast<Source>(source));
  while (true) {
    std::size_t first = kSources;
    for (std::size_t source = 0; source < kSources; ++source) {
      if (has_[source] && (first == kSources || times_[source] < times_[first])) first = source;
    }
    if (first == kSources) break;
    step(static_cast<Source>(first));
    look(static_cast<Source>(first));
  }
  association_.finish();
  report();
}

void HostReading::step(Source source) {
  if (source == tracks) {
    association_.add_task(tracks_.front());
    tracks_.pop();
  } else if (source == calls) {
    for (const RecordedCall& call : calls_.front()) association_.add_call(rows_.add(call));
    calls_.pop(context_);
  } else {
    RecordStream& records = stream(source);
    take(source, *records.front());
    records.pop();
  }
}

template <typename Record>
void HostReading::attach(Source source, const StreamRecord& record,
                         const Decoded<Record>& decoded) {
  if (!decoded.why_impossible.empty()) {
    stream(source).skip(context_, record, decoded.why_impossible);
  } else if (!association_.add(decoded.thread, record.time, decoded.value)) {
    ++outside_[source];
  }
}

void HostReading::take(Source source, const StreamRecord& record) {
  switch (source) {
    case copies:
      association_.add_copy(decode_copy(record));
      break;
    case basics:
      attach(source, record, decode_basic(record));
      break;
    case attributes:
      attach(source, record, decode_attribute(record));
      break;
    case tensors:
      attach(source, record, decode_tensors(record));
      break;
    case contexts: {
      ContextBuffer buffer;
      attach(source, record, decode_contexts(record, buffer));
      break;
    }
    case comm_tasks:
      attach(source, record, decode_comm_task(record));
      break;
    case comm_ops:
      attach(source, record, decode_comm_op(record));
      break;
    default:
      add_fusion(record);
  }
}

void HostReading::add_fusion(const StreamRecord& record) {
  const auto decoded = decode_fusion(record);
  if (!decoded.why_impossible.empty()) {
    inputs_.fusion_op_info.skip(context_, record, decoded.why_impossible);
    return;
  }
  const HostCall* model = association_.model_at(decoded.thread, record.time);
  if (model == nullptr) {
    ++outside_[fusions];
    return;
  }
  const FusionOpInfoWire& wire = decoded.value;
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

void HostReading::report() {
  constexpr std::array<std::string_view, kSources> kNames = {
      "memcpy_info",     "task_track", "node_basic_info", "node_attr_info", "tensor_info",
      "context_id_info", "hccl_info",  "hccl_op_info",    "fusion_op_info", "api_event"};
  for (std::size_t source = 0; source < kSources; ++source) {
    if (outside_[source] > 0) {
      context_.report.add(FindingId::orphan_records, kNames[source], "",
                          "outside every call of its level", "", outside_[source]);
    }
  }
  if (association_.homeless_comm_tasks() > 0) {
    context_.report.add(FindingId::orphan_records, "task_track", "",
                        "communication task outside every node call", "",
                        static_cast<std::int64_t>(association_.homeless_comm_tasks()));
  }
  if (ops_.odd_tensors() > 0) {
    context_.report.add(FindingId::odd_tensors, "tensor_info", "",
                        "tensor that is neither input nor output", "",
                        static_cast<std::int64_t>(ops_.odd_tensors()));
  }
}

}  // namespace

void join_host(CannImport& import, const ImportContext& context, HostTaskStore& tasks) {
  HostReading(import, context, tasks).run();
}

}  // namespace msprof::cann
