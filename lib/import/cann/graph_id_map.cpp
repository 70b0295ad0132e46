// Raw kind graph_id_map: names of model numbers. Source: cann_host.md 1.8.11.
#include "import/cann/cann_import.hpp"
#include "wire/cann/host_wire.hpp"

namespace msprof::cann {

namespace {

constexpr RecordFormat kGraphIdMapFormat{"graph_id_map", sizeof(GraphIdMapWire), has_record_head};

class GraphIdMapKind : public SliceKind {
 public:
  explicit GraphIdMapKind(CannImport& import)
      : SliceKind(import, "graph_id_map", kGraphIdMapFormat) {}

  void finish(const ImportContext& context) override {
    std::int64_t id = 0;
    for (const auto& [model, hash] : import_.host.model_names) {
      ModelRow row;
      row.id = ++id;
      row.model_id = model;
      row.name_id = import_.dictionaries.hash_name_id(context.store, hash);
      context.store.add(row);
    }
  }

 private:
  void read(const ImportContext& context, const CannPart&, RecordStream& stream) override {
    stream.open(context, [this](const StreamRecord& record) {
      const auto wire = decode<GraphIdMapWire>(record.bytes);
      import_.host.model_names.insert_or_assign(wire.model_id, wire.model_name);
    });
  }
};

}  // namespace

std::unique_ptr<RawKind> make_graph_id_map_kind(CannImport& import) {
  return std::make_unique<GraphIdMapKind>(import);
}

}  // namespace msprof::cann
