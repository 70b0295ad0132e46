// SvpModels: state shared by the svp kinds of one import: models, captures and layers with their
// row ids. Also declares the makers of those kinds.
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

// Units that a layer can run on, as named in products.
inline constexpr std::string_view kCore = "AA_CORE";
inline constexpr std::string_view kCpu = "AA_CPU";

struct SvpLayer {
  std::int64_t layer_id = 0;
  std::int64_t net_id = 0;
  std::string type;
  std::string name;
  std::string original_names;                  // joined by '+'
  bool is_on_cpu = false;                      // from layer.info; the data file's kind overrides it
  std::optional<std::uint64_t> info_offset{};  // of its line in layer.info
};

class SvpModels {
 public:
  explicit SvpModels(const SvpSession& session);

  const SvpSession& session() const { return session_; }
  const SvpFileName& parsed_name(const RawFile& file) const { return session_.parsed_name(file); }

  // Frequency from info.json.N; nullopt if absent.
  void set_device(std::int64_t device, std::optional<std::int64_t> frequency_hz,
                  const std::string& chip);
  std::optional<std::int64_t> frequency_hz(std::int64_t device) const;

  void set_batch_num(const SvpFileName& model, std::int64_t batch_num);
  // Returns false if the model already has the layer in that net.
  bool add_layer(const SvpFileName& model, SvpLayer layer);

  // Returns the layers from layer.info; null if there are none.
  const std::vector<SvpLayer>* find_layers(const SvpFileName& model) const;

  // Row ids. A model is identified by (model, model_id), on the device named by the data files.
  std::int64_t model_row(const SvpFileName& file) const;
  std::int64_t step_row(const SvpFileName& file) const;
  // Returns the row of the operator of a record; created on first use. `named` is false if
  // layer.info does not contain the layer; its name is then "layer_<id>".
  std::int64_t op_row(const SvpFileName& file, std::int64_t layer_id, std::string_view unit,
                      bool& named);

  // Sets the number of pictures of a capture. An empty one keeps the number in the file name.
  void set_pictures(const SvpFileName& file, std::optional<std::int64_t> pictures);
  void add_icache(const SvpFileName& file, std::optional<std::int64_t> hits,
                  std::optional<std::int64_t> misses);

  // Records that a data file was read. The reference layout means that the host runtime wrote it;
  // boards have their own layout.
  void note_layout(SvpFileKind kind, bool is_reference);
  UnitLoads unit_loads() const;

  // Ids. Tasks are numbered across all files.
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
    std::vector<SvpLayer> all;
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> by_net_and_id;
    std::map<std::int64_t, std::vector<std::size_t>> by_id;
  };
  struct Device {
    std::optional<std::int64_t> frequency_hz;
    std::string chip;
  };
  struct Op {
    std::int64_t model_row = kNull;
    SvpLayer layer;
    std::int64_t position = kNull;
    std::string unit;
    bool has_layer_id = true;
  };

  const SvpLayer* find_layer(const SvpFileName& file, std::int64_t layer_id,
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
  bool is_core_of_board_ = false;  // a board wrote at least one aicore file
  bool is_core_of_host_runtime_ = false;
  bool is_other_of_host_runtime_ = false;
  std::int64_t next_task_id_ = 1;
  std::int64_t next_run_id_ = 1;
  std::int64_t next_call_id_ = 1;
};

// Returns the devices named by data files, for checks against info.json.
std::vector<std::int64_t> list_devices(const SvpSession& session);
bool has_aicore(const SvpSession& session, std::int64_t device);

// Makers of the svp kinds, which share `models`.
#define KIND(name) std::unique_ptr<RawKind> make_##name##_kind(SvpModels& models);
#include "import/svp/kinds.def"
#undef KIND

// More layers than any model has.
inline constexpr std::int64_t kMaxLayerId = 1'000'000;
// Longer than any real layer or call; a sum of a million durations still fits 128 bits.
inline constexpr std::int64_t kMaxDurationNs = std::int64_t{1} << 53;

}  // namespace msprof::svp
