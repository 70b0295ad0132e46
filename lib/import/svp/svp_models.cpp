#include "import/svp/svp_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace msprof::svp {

namespace {

bool is_data(SvpFileKind kind) {
  return kind == SvpFileKind::aicore || kind == SvpFileKind::aicpu || kind == SvpFileKind::acl_api;
}

bool is_task_data(SvpFileKind kind) {
  return kind == SvpFileKind::aicore || kind == SvpFileKind::aicpu;
}

}  // namespace

std::vector<std::int64_t> list_devices(const SvpSession& session) {
  std::set<std::int64_t> devices;
  for (const RawFile& file : session.raw_files()) {
    const SvpFileName& name = session.parsed_name(file);
    if (is_data(name.kind)) devices.insert(name.device);
  }
  return {devices.begin(), devices.end()};
}

bool has_aicore(const SvpSession& session, std::int64_t device) {
  const auto& files = session.raw_files();
  return std::any_of(files.begin(), files.end(), [&](const RawFile& file) {
    const SvpFileName& name = session.parsed_name(file);
    return name.kind == SvpFileKind::aicore && name.device == device;
  });
}

SvpModels::SvpModels(const SvpSession& session) : session_(session) {
  for (const RawFile& file : session.raw_files()) {
    const SvpFileName& name = session.parsed_name(file);
    if (!is_data(name.kind)) continue;
    devices_.try_emplace(name.device);
    model_rows_.try_emplace(DeviceModelKey(name.model_key()), 0);
    if (is_task_data(name.kind)) steps_.try_emplace(CaptureKey(name.capture_key()));
  }
  // Ids follow the sorted keys, so that the same files give the same store.
  std::int64_t id = 0;
  for (auto& [key, row] : model_rows_) row = ++id;
  id = 0;
  std::map<std::int64_t, std::int64_t> numbers;
  for (auto& [key, step] : steps_) {
    const auto& [device, model, model_id, current, batch, pics] = key;
    step.id = ++id;
    step.model_row = model_rows_.at({device, model, model_id});
    step.number = numbers[step.model_row]++;
    step.batch_num = batch;
    step.input_pic_num = pics;
    step.current_pic_count = current;
  }
}

void SvpModels::set_device(std::int64_t device, std::optional<std::int64_t> frequency_hz,
                           const std::string& chip) {
  devices_[device] = {frequency_hz, chip};
}

std::optional<std::int64_t> SvpModels::frequency_hz(std::int64_t device) const {
  const auto at = devices_.find(device);
  return at == devices_.end() ? std::nullopt : at->second.frequency_hz;
}

void SvpModels::set_batch_num(const SvpFileName& model, std::int64_t batch_num) {
  batch_nums_.try_emplace({model.model, model.model_id}, batch_num);
}

bool SvpModels::add_layer(const SvpFileName& model, SvpLayer layer) {
  Layers& layers = layers_[{model.model, model.model_id}];
  if (!layers.by_net_and_id.try_emplace({layer.net_id, layer.layer_id}, layers.all.size()).second) {
    return false;
  }
  layers.by_id[layer.layer_id].push_back(layers.all.size());
  layers.all.push_back(std::move(layer));
  return true;
}

std::int64_t SvpModels::model_row(const SvpFileName& file) const {
  return model_rows_.at(DeviceModelKey(file.model_key()));
}

std::int64_t SvpModels::step_row(const SvpFileName& file) const {
  return steps_.at(CaptureKey(file.capture_key())).id;
}

const SvpLayer* SvpModels::find_layer(const SvpFileName& file, std::int64_t layer_id,
                                      std::int64_t& position) const {
  const auto model = layers_.find({file.model, file.model_id});
  if (model == layers_.end()) return nullptr;
  const Layers& layers = model->second;
  std::size_t index = 0;
  const auto exact = layers.by_net_and_id.find({file.net.value_or(0), layer_id});
  const auto anywhere = layers.by_id.find(layer_id);
  if (file.net && exact != layers.by_net_and_id.end()) {
    index = exact->second;
  } else if (anywhere != layers.by_id.end() && anywhere->second.size() == 1) {
    index = anywhere->second.front();
  } else {
    return nullptr;  // unknown, or ambiguous because several nets have this id
  }
  position = static_cast<std::int64_t>(index);
  return &layers.all[index];
}

const std::vector<SvpLayer>* SvpModels::find_layers(const SvpFileName& model) const {
  const auto at = layers_.find({model.model, model.model_id});
  return at == layers_.end() ? nullptr : &at->second.all;
}

std::int64_t SvpModels::op_row(const SvpFileName& file, std::int64_t layer_id,
                               std::string_view unit, bool& named) {
  Op op;
  op.model_row = model_row(file);
  op.unit = unit;
  op.has_layer_id = layer_id != kNull;
  const SvpLayer* layer = op.has_layer_id ? find_layer(file, layer_id, op.position) : nullptr;
  named = layer != nullptr;
  if (layer != nullptr) {
    op.layer = *layer;
  } else {
    const std::string name = op.has_layer_id ? fmt::format("layer_{}", layer_id) : "N/A";
    op.layer = {op.has_layer_id ? layer_id : kNull, file.net.value_or(0), "N/A", name, name, false};
  }
  const auto [at, is_new] = op_rows_.try_emplace({op.model_row, op.layer.net_id, layer_id, op.unit},
                                                 static_cast<std::int64_t>(ops_.size()) + 1);
  if (is_new) ops_.push_back(std::move(op));
  return at->second;
}

void SvpModels::set_pictures(const SvpFileName& file, std::optional<std::int64_t> pictures) {
  if (pictures && *pictures > 0)
    steps_.at(CaptureKey(file.capture_key())).input_pic_num = *pictures;
}

void SvpModels::add_icache(const SvpFileName& file, std::optional<std::int64_t> hits,
                           std::optional<std::int64_t> misses) {
  if (!hits || !misses) return;
  StepRow& step = steps_.at(CaptureKey(file.capture_key()));
  const auto add = [](std::int64_t& sum, std::int64_t value) {
    if (__builtin_add_overflow(sum == kNull ? 0 : sum, value, &sum)) sum = INT64_MAX;
  };
  add(step.icache_hit, *hits);
  add(step.icache_miss, *misses);
}

void SvpModels::note_layout(SvpFileKind kind, bool is_reference) {
  if (kind == SvpFileKind::aicore) {
    (is_reference ? is_core_of_host_runtime_ : is_core_of_board_) = true;
  } else if (is_reference) {
    is_other_of_host_runtime_ = true;
  }
}

// If there is no aicore file but others are from the host runtime, loads count as modelled, because
// the frequency is.
UnitLoads SvpModels::unit_loads() const {
  const bool is_modelled =
      is_core_of_host_runtime_ || (is_other_of_host_runtime_ && !is_core_of_board_);
  return is_modelled ? UnitLoads::modelled : UnitLoads::measured;
}

void SvpModels::write_rows(TraceDbWriter& store) const {
  for (const auto& [id, device] : devices_) {
    store.add(DeviceRow{id, device.chip.empty() ? kNull : store.name_id(device.chip),
                        device.frequency_hz.value_or(kNull)});
  }
  for (const auto& [key, row] : model_rows_) {
    const auto& [device, model, model_id] = key;
    const auto batch = batch_nums_.find({model, model_id});
    store.add(ModelRow{row, device, model_id, store.name_id(model),
                       batch == batch_nums_.end() ? kNull : batch->second});
  }
  for (const auto& [key, step] : steps_) store.add(step);
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const Op& op = ops_[i];
    store.add(OpRow{static_cast<std::int64_t>(i) + 1, op.model_row, op.layer.net_id,
                    op.layer.layer_id, op.position, store.name_id(op.layer.name),
                    store.name_id(op.layer.original_names), store.name_id(op.layer.type),
                    store.name_id(op.unit)});
  }
}

}  // namespace msprof::svp
