// SvpModels: state that the svp kinds of one import share: models, captures and layers with their
// row ids; and the makers of those kinds.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "import/raw_kind.hpp"
#include "session/svp_session.hpp"

namespace msprof::svp {

// The units that a layer can run on, as the products spell them.
inline constexpr std::string_view kCore = "AA_CORE";
inline constexpr std::string_view kCpu = "AA_CPU";

struct Layer {
  std::int64_t layer_id = 0;
  std::int64_t net_id = 0;
  std::string type;
  std::string name;
  std::string original_names;  // joined by '+'
  bool on_cpu = false;         // as layer.info says; the kind of a data file decides
};

class SvpModels {
 public:
  explicit SvpModels(const SvpSession& session);

  const SvpSession& session() const { return session_; }
  const FileName& name_of(const RawFile& file) const { return session_.name_of(file); }

  // MHz of info.json.N as hertz; absent if it has none.
  void set_device(std::int64_t device, std::optional<std::int64_t> frequency_hz,
                  const std::string& chip);
  std::optional<std::int64_t> frequency_hz(std::int64_t device) const;

  void set_batch_num(const FileName& model, std::int64_t batch_num);
  // False when the model has that layer of that net already.
  bool add_layer(const FileName& model, Layer layer);

  // The layers that layer.info gave; null: none.
  const std::vector<Layer>* layers_of(const FileName& model) const;

  // Row ids. Models are known by (model, model_id), on the device that the data files name.
  std::int64_t model_row(const FileName& file) const;
  std::int64_t step_row(const FileName& file) const;
  // The operator of a record; made when it is first seen. `named` is false where layer.info does
  // not have the layer (its name is then "layer_<id>").
  std::int64_t op_row(const FileName& file, std::int64_t layer_id, std::string_view unit,
                      bool& named);

  void add_icache(const FileName& file, std::optional<std::int64_t> hits,
                  std::optional<std::int64_t> misses);

  // Takes note of a data file that was read; the host runtime writes the reference layout, boards
  // have one of their own.
  void note_layout(FileKind kind, bool is_reference);
  UnitLoads unit_loads() const;

  // A task run's worth of ids: tasks are numbered through all files.
  std::int64_t next_task_id() { return next_task_id_++; }
  std::int64_t last_task_id() const { return next_task_id_ - 1; }
  std::int64_t next_run_id() { return next_run_id_++; }
  std::int64_t next_call_id() { return next_call_id_++; }

  void write_rows(TraceDbWriter& store) const;

 private:
  using ModelKey = std::pair<std::string, std::int64_t>;
  using DeviceModelKey = std::tuple<std::int64_t, std::string, std::int64_t>;
  using CaptureKey =
      std::tuple<std::int64_t, std::string, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  struct Layers {
    std::vector<Layer> all;
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> by_net_and_id;
    std::map<std::int64_t, std::vector<std::size_t>> by_id;
  };
  struct Device {
    std::optional<std::int64_t> frequency_hz;
    std::string chip;
  };
  struct Op {
    std::int64_t model_row = kNull;
    Layer layer;
    std::int64_t position = kNull;
    std::string unit;
    bool has_layer_id = true;
  };

  const Layer* find_layer(const FileName& file, std::int64_t layer_id,
                          std::int64_t& position) const;

  const SvpSession& session_;
  std::map<std::int64_t, Device> devices_;
  std::map<DeviceModelKey, std::int64_t> model_rows_;
  std::map<CaptureKey, StepRow> steps_;
  std::map<ModelKey, std::int64_t> batch_nums_;
  std::map<ModelKey, Layers> layers_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string>, std::int64_t>
      op_rows_;
  std::vector<Op> ops_;
  bool is_core_of_board_ = false;  // some aicore file is
  bool is_core_of_host_runtime_ = false;
  bool is_other_of_host_runtime_ = false;
  std::int64_t next_task_id_ = 1;
  std::int64_t next_run_id_ = 1;
  std::int64_t next_call_id_ = 1;
};

// The devices that data files name, for checks against info.json.
std::vector<std::int64_t> devices_of(const SvpSession& session);
bool has_aicore(const SvpSession& session, std::int64_t device);

// The makers of the svp kinds, with the models that they share. For builtin_kinds.cpp.
#define KIND(name) std::unique_ptr<RawKind> make_##name##_kind(SvpModels& models);
#include "import/svp/kinds.def"
#undef KIND

// More layers than any model has.
inline constexpr std::int64_t kMaxLayerId = 1'000'000;
// Longer than any real layer or call; a sum of a million of them still fits 128 bits.
inline constexpr std::int64_t kMaxDurationNs = std::int64_t{1} << 53;

}  // namespace msprof::svp
