// Raw kinds Framework.*: operators with their tasks and tensors, models, steps, fused operators,
// and the dictionary. Source: cann5_classic.md 6.2.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/number.hpp"
#include "base/text.hpp"
#include "import/cann/counters/text_kind.hpp"
#include "import/cann/join/host_rows.hpp"
#include "import/old/old_import.hpp"

namespace msprof::old {

namespace {

using cann::RecordFormat;
using cann::RecordStream;
using cann::StreamRecord;

constexpr std::uint16_t tag_number(FrameworkTag tag) {
  return static_cast<std::uint16_t>(tag);
}

template <FrameworkTag kTag>
constexpr RecordFormat tag_record_format(std::string_view kind, std::size_t bytes) {
  return {kind, bytes, has_tag<tag_number(kTag)>};
}

// Reads Framework.hash_dic and similar files: lines `<hash>:<text>`, which may continue in the next
// slice.
class OldHashDicKind : public RawKind {
 public:
  explicit OldHashDicKind(CannImport& import) : import_(import) {}

  std::string_view name() const override { return "hash_dic"; }
  bool owns(const RawFile& file) const override {
    const std::string_view stem = import_.session.parsed_name(file).stem;
    return stem == "hash_dic" || stem.ends_with(".hash_dic");
  }

  void import(const ImportContext& context, const RawFile& file) override {
    const std::string& stem = import_.session.parsed_name(file).stem;
    const std::string key = import_.session.find_part(file).name + '/' + stem;
    lines_.try_emplace(key, context, name()).first->second.add(file);
    if (!files_.is_last(context, *this)) return;
    for (auto& [part, lines] : lines_) {
      lines.read([&lines = lines, this](std::string_view line) -> std::string_view {
        if (line.empty()) return {};
        const std::size_t colon = line.find(':');
        std::uint64_t hash = 0;
        if (colon == std::string_view::npos || !parse_u64(trim(line.substr(0, colon)), hash))
          return "damaged line";
        import_.dictionaries.add_hash(hash, std::string(line.substr(colon + 1)));
        lines.count();
        return {};
      });
    }
  }

  void finish(const ImportContext& context) override {
    const std::uint64_t unknown = import_.dictionaries.unknown_hashes();
    if (unknown == 0) return;
    const bool is_missing = lines_.empty();
    context.report.add(is_missing ? FindingId::missing_dictionary : FindingId::missing_names,
                       name(), "",
                       is_missing ? "missing dictionary" : "names not in the dictionary",
                       "shown as numbers", static_cast<std::int64_t>(unknown));
  }

 private:
  CannImport& import_;
  std::map<std::string, cann::SliceLines> lines_;
  cann::OwnedFiles files_;
};

OpKind to_op_kind(std::uint32_t number) {
  constexpr std::uint32_t kKinds = 3;
  return number < kKinds ? static_cast<OpKind>(number) : OpKind::other;
}

class TaskDescKind : public OldKind {
 public:
  explicit TaskDescKind(CannImport& import)
      : OldKind(
            import, "Framework.task_desc_info",
            tag_record_format<FrameworkTag::task_desc>("task_desc_info", sizeof(TaskDescWire))) {}

 private:
  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    auto& descriptions = data().devices[device_or_zero(part)].descriptions;
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = cann::decode<TaskDescWire>(record.bytes);
      TaskDesc task;
      task.name_id = text_id(import_, context.store, wire.name);
      task.type_name_id = text_id(import_, context.store, wire.type);
      task.iteration = wire.iteration;
      task.time_ns = wire.time_ns;
      task.model = wire.model;
      task.stream = wire.stream;
      task.blocks = wire.blocks;
      task.task = wire.task;
      task.batch = wire.batch;
      task.kind = to_op_kind(wire.task_type);
      descriptions.push_back(task);
    });
  }
};

class TensorDataKind : public OldKind {
 public:
  explicit TensorDataKind(CannImport& import)
      : OldKind(import, "Framework.tensor_data_info",
                tag_record_format<FrameworkTag::tensor_data>("tensor_data_info",
                                                             sizeof(TensorDataWire))) {}

 private:
  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    TensorTable& tensors = data().devices[device_or_zero(part)].tensors;
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = cann::decode<TensorDataWire>(record.bytes);
      // Another writer stores the count in one byte.
      const std::uint32_t count = wire.count <= kMaxOldTensors ? wire.count : wire.count & 0xFFU;
      if (count > kMaxOldTensors)
        return stream.skip(context, record, "more tensors than fit in the record");
      tensors.add({wire.time_ns, wire.stream, wire.task}, tensor_texts(wire, count));
    });
  }

  static TensorTable::TensorTexts tensor_texts(const TensorDataWire& wire, std::uint32_t count) {
    constexpr std::uint32_t kOutput = 1;
    TensorTable::TensorTexts texts;
    for (std::uint32_t i = 0; i < count; ++i) {
      const OldTensorWire tensor = wire.tensors[i];
      if (tensor.kind > kOutput) continue;
      std::string* side = &texts[tensor.kind == kOutput ? 3 : 0];
      if (!side[1].empty()) {
        for (std::size_t text = 0; text < 3; ++text) side[text] += ';';
      }
      bool is_first = true;
      for (const std::uint32_t dimension : tensor.shape) {
        if (dimension == 0) continue;
        if (!is_first) side[0] += ',';
        side[0] += std::to_string(dimension);
        is_first = false;
      }
      side[1] += cann::data_type_name(tensor.data_type);
      side[2] += format_text(tensor.format);
    }
    return texts;
  }

  // Returns the name of a format; ND had another name in CANN 5.
  static std::string format_text(std::uint32_t number) {
    constexpr std::uint32_t kNd = 2;
    return number == kNd ? "FORMAT_ND" : cann::format_name(number);
  }
};

// Steps recorded by the host. The device's step records are more exact.
class StepInfoKind : public OldKind {
 public:
  explicit StepInfoKind(CannImport& import)
      : OldKind(import, "Framework.step_info",
                tag_record_format<FrameworkTag::step>("step_info", sizeof(StepInfoWire))) {}

 private:
  void read(const ImportContext& context, const CannPart&, RecordStream& stream) override {
    // A step is a pair of records with the same model, iteration and thread.
    std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>, std::uint64_t> open;
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = cann::decode<StepInfoWire>(record.bytes);
      if (!are_possible({wire.time_ns})) return stream.skip(context, record, cann::kImpossibleTime);
      const std::tuple key(wire.model, wire.iteration, wire.thread);
      if (wire.is_end == 0) {
        open.insert_or_assign(key, wire.time_ns);
        return;
      }
      const auto begin = open.find(key);
      if (begin == open.end()) return;
      ApiCallRow call;
      call.process_id = import_.session.info().pid;
      call.thread_id = wire.thread;
      call.level = call_level::kModel;
      call.type_name_id = call.name_id = context.store.name_id("step_info");
      call.item_name_id = context.store.name_id(std::to_string(wire.iteration));
      call.start_ns = wall_ns(begin->second);
      call.end_ns = wall_ns(wire.time_ns);
      open.erase(begin);
      data().add(call);
    });
  }
};

// Maps models to graphs. The mapping is not used; its records are only counted.
class IdMapKind : public OldKind {
 public:
  explicit IdMapKind(CannImport& import)
      : OldKind(import, "Framework.id_map_info",
                tag_record_format<FrameworkTag::id_map>("id_map_info", sizeof(IdMapWire))) {}

 private:
  void read(const ImportContext& context, const CannPart&, RecordStream& stream) override {
    stream.open(context);
  }
};

class ModelLoadKind : public OldKind {
 public:
  explicit ModelLoadKind(CannImport& import)
      : OldKind(
            import, "Framework.model_load_info",
            tag_record_format<FrameworkTag::model_load>("model_load_info", sizeof(ModelLoadWire)),
            true) {}

 private:
  void read(const ImportContext& context, const CannPart&, RecordStream& stream) override {
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = cann::decode<ModelLoadWire>(record.bytes);
      if (!are_possible({wire.start_ns, wire.end_ns}))
        return stream.skip(context, record, cann::kImpossibleTime);
      const std::int64_t name_id = text_id(import_, context.store, wire.name);
      data().model_names.insert_or_assign(wire.model, name_id);
      ApiCallRow call;
      call.process_id = import_.session.info().pid;
      call.level = call_level::kModel;
      call.type_name_id = call.name_id = context.store.name_id("ModelLoad");
      call.item_name_id = name_id;
      call.start_ns = wall_ns(wire.start_ns);
      call.end_ns = wall_ns(wire.end_ns);
      data().add(call);
    });
  }
};

class ModelTimeKind : public OldKind {
 public:
  explicit ModelTimeKind(CannImport& import)
      : OldKind(
            import, "Framework.model_time_info",
            tag_record_format<FrameworkTag::model_time>("model_time_info", sizeof(ModelTimeWire)),
            true) {}

 private:
  void read(const ImportContext& context, const CannPart&, RecordStream& stream) override {
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = cann::decode<ModelTimeWire>(record.bytes);
      if (!are_possible({wire.input_start_ns, wire.input_end_ns, wire.infer_start_ns,
                         wire.infer_end_ns, wire.output_start_ns, wire.output_end_ns}))
        return stream.skip(context, record, cann::kImpossibleTime);
      const std::int64_t name_id = text_id(import_, context.store, wire.name);
      data().model_names.try_emplace(wire.model, name_id);
      const auto add = [&](std::string_view phase, std::uint64_t start, std::uint64_t end) {
        ApiCallRow call;
        call.process_id = import_.session.info().pid;
        call.thread_id = wire.thread;
        call.level = call_level::kModel;
        call.type_name_id = call.name_id = context.store.name_id(phase);
        call.item_name_id = name_id;
        call.start_ns = wall_ns(start);
        call.end_ns = wall_ns(end);
        CallDetailRow detail;
        detail.request = wire.request;
        data().add(call, detail);
      };
      add("Input", wire.input_start_ns, wire.input_end_ns);
      add("Infer", wire.infer_start_ns, wire.infer_end_ns);
      add("Output", wire.output_start_ns, wire.output_end_ns);
    });
  }
};

class OldFusionOpKind : public OldKind {
 public:
  explicit OldFusionOpKind(CannImport& import)
      : OldKind(
            import, "Framework.fusion_op_info",
            tag_record_format<FrameworkTag::fusion_op>("fusion_op_info", sizeof(OldFusionOpWire)),
            true) {}

 private:
  void read(const ImportContext& context, const CannPart&, RecordStream& stream) override {
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = cann::decode<OldFusionOpWire>(record.bytes);
      if (wire.count > kMaxOldFusedOps)
        return stream.skip(context, record, "more names than fit in the record");
      FusionOpRow row;
      row.id = ++data().fusion_rows;
      row.model_number = wire.model;
      const auto& models = data().model_names;
      const auto model = models.find(wire.model);
      if (model != models.end()) row.model_name_id = model->second;
      row.name_id = text_id(import_, context.store, wire.name);
      std::string names;
      for (std::uint64_t i = 0; i < wire.count; ++i) {
        if (i > 0) names += ';';
        // Called to count hashes that are in no dictionary.
        import_.dictionaries.hash_name_id(context.store, wire.names[i]);
        names += import_.dictionaries.hash_text(wire.names[i]);
      }
      row.original_names_name_id = context.store.name_id(names);
      row.input_bytes = cann::cell(wire.input_bytes);
      row.output_bytes = cann::cell(wire.output_bytes);
      row.weight_bytes = cann::cell(wire.weight_bytes);
      row.workspace_bytes = cann::cell(wire.workspace_bytes);
      row.total_bytes = cann::cell(wire.total_bytes);
      context.store.add(row);
    });
  }
};

class DynamicOpKind : public OldKind {
 public:
  explicit DynamicOpKind(CannImport& import)
      : OldKind(import, "Framework.dynamic_op_execute",
                tag_record_format<FrameworkTag::dynamic_op_execute>(
                    "dynamic_op_execute", sizeof(DynamicOpExecuteWire))) {}

 private:
  void read(const ImportContext& context, const CannPart&, RecordStream& stream) override {
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = cann::decode<DynamicOpExecuteWire>(record.bytes);
      if (!are_possible({wire.start_ns, wire.end_ns}))
        return stream.skip(context, record, cann::kImpossibleTime);
      ApiCallRow call;
      call.process_id = import_.session.info().pid;
      call.thread_id = wire.thread;
      call.level = call_level::kNode;
      call.type_name_id = call.name_id =
          import_.dictionaries.hash_name_id(context.store, wire.phase);
      call.item_name_id = import_.dictionaries.hash_name_id(context.store, wire.type);
      call.start_ns = wall_ns(wire.start_ns);
      call.end_ns = wall_ns(wire.end_ns);
      data().add(call);
    });
  }
};

}  // namespace

#define MSPROF_MAKER(name, Kind)                                    \
  std::unique_ptr<RawKind> make_##name##_kind(CannImport& import) { \
    return std::make_unique<Kind>(import);                          \
  }
MSPROF_MAKER(old_hash_dic, OldHashDicKind)
MSPROF_MAKER(task_desc, TaskDescKind)
MSPROF_MAKER(tensor_data, TensorDataKind)
MSPROF_MAKER(step_info, StepInfoKind)
MSPROF_MAKER(id_map, IdMapKind)
MSPROF_MAKER(model_load, ModelLoadKind)
MSPROF_MAKER(model_time, ModelTimeKind)
MSPROF_MAKER(old_fusion_op, OldFusionOpKind)
MSPROF_MAKER(dynamic_op, DynamicOpKind)
#undef MSPROF_MAKER

}  // namespace msprof::old
