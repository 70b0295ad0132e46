#include "runtime/engine/model/model.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "runtime/engine/clock.hpp"

namespace msprof::runtime {

namespace {

// Limits against a malicious or damaged file. The product of any two of them fits in an int64.
constexpr int64_t kMaxDimension = 65536;
constexpr int64_t kMaxTensorFloats = int64_t{1} << 24;
constexpr int64_t kMaxWeightFloats = int64_t{1} << 24;
constexpr int64_t kMaxWorkspaceFloats = int64_t{1} << 27;
constexpr int64_t kMaxBatch = 1024;
constexpr std::size_t kMaxLayers = 10000;
constexpr std::size_t kMaxModelBytes = std::size_t{32} << 20;

}  // namespace

// Parses the JSON of a model file into a Model; use once per model.
class ModelParser {
 public:
  explicit ModelParser(const nlohmann::json& document)
      : document_(document), budget_(kMaxWeightFloats) {}

  Model parse() {
    LayerReader reader("model", document_);
    if (reader.text("format", "") != "msprof-model")
      reader.fail("\"format\" must be \"msprof-model\"");
    reader.integer("version", 1, 1);
    model_.name_ = reader.text("name");
    seed_ = static_cast<uint64_t>(reader.integer("seed", 0, INT64_MAX, 0));
    model_.batch_ = reader.integer("batch", 1, kMaxBatch, 1);
    model_.max_batch_ = reader.integer("max_batch", model_.batch_, kMaxBatch, model_.batch_);
    for (const nlohmann::json& input : reader.list("inputs")) read_input(input);
    const nlohmann::json& layers = reader.list("layers");
    if (model_.inputs_.empty() || layers.empty())
      reader.fail("needs at least one input and one layer");
    if (layers.size() > kMaxLayers)
      reader.fail("has more than " + std::to_string(kMaxLayers) + " layers");
    for (const nlohmann::json& layer : layers) read_layer(layer);
    read_outputs(reader);
    reader.expect_all_used();
    place_tensors();
    check_memory();
    return std::move(model_);
  }

 private:
  void read_input(const nlohmann::json& object) {
    LayerReader reader("input " + std::to_string(model_.inputs_.size()), object);
    const std::string name = reader.text("name");
    const std::vector<int64_t> shape = reader.integers("shape", 1, kMaxDimension);
    if (shape.size() != 3) reader.fail("\"shape\" must be [channels, height, width]");
    reader.expect_all_used();
    model_.inputs_.push_back(add_tensor(reader, name, {shape[0], shape[1], shape[2]}));
  }

  void read_layer(const nlohmann::json& object) {
    const std::string place = "layer " + std::to_string(model_.layers_.size());
    LayerReader anonymous(place, object);
    Layer layer;
    layer.name = anonymous.text("name");
    LayerReader reader("layer '" + layer.name + "'", object);
    reader.text("name");
    layer.type = reader.text("type");
    layer.original = reader.has("original") ? reader.texts("original") : std::vector{layer.name};
    if (layer.original.empty()) reader.fail("\"original\" must not be empty");
    const std::string place_of_work = reader.text("run_on", "AA_CORE");
    if (place_of_work != "AA_CORE" && place_of_work != "AA_CPU") {
      reader.fail("\"run_on\" must be \"AA_CORE\" or \"AA_CPU\"");
    }
    layer.is_on_cpu = place_of_work == "AA_CPU";

    std::vector<TensorShape> shapes;
    for (const std::string& name : reader.texts("inputs")) {
      layer.inputs.push_back(find_tensor(reader, name));
      shapes.push_back(model_.tensors_[layer.inputs.back()].shape);
    }
    layer.operation = make_operator(layer.type, {reader, shapes, layer.original, seed_, budget_});
    reader.expect_all_used();
    layer.output = add_tensor(reader, layer.name, layer.operation->output_shape);
    model_.scratch_floats_ = std::max(model_.scratch_floats_, layer.operation->scratch_floats());
    model_.layers_.push_back(std::move(layer));
  }

  void read_outputs(LayerReader& reader) {
    if (reader.has("outputs")) {
      for (const std::string& name : reader.texts("outputs"))
        model_.outputs_.push_back(find_tensor(reader, name));
      if (model_.outputs_.empty()) reader.fail("\"outputs\" must not be empty");
    } else {
      model_.outputs_.push_back(model_.layers_.back().output);
    }
    for (const std::size_t output : model_.outputs_) {
      if (model_.tensors_[output].shape.is_blocked)
        reader.fail("the output '" + model_.tensors_[output].name + "' is not in NCHW order");
    }
  }

  std::size_t find_tensor(const LayerReader& reader, const std::string& name) const {
    const auto it = tensor_by_name_.find(name);
    if (it == tensor_by_name_.end())
      reader.fail("no earlier input or layer is named '" + name + "'");
    return it->second;
  }

  std::size_t add_tensor(const LayerReader& reader, const std::string& name,
                         const TensorShape& shape) {
    // plane() is checked first, so that the product in elements() cannot overflow.
    if (shape.plane() > kMaxTensorFloats || shape.elements() > kMaxTensorFloats) {
      reader.fail("a tensor has more than " + std::to_string(kMaxTensorFloats) + " elements");
    }
    if (!tensor_by_name_.emplace(name, model_.tensors_.size()).second) {
      reader.fail("the name '" + name + "' is used twice");
    }
    model_.tensors_.push_back({name, shape, 0});
    return model_.tensors_.size() - 1;
  }

  // Tensors with disjoint lifetimes share a slot: this saves memory and improves cache use.
  void place_tensors() {
    const std::size_t forever = model_.layers_.size();
    std::vector<std::size_t> last_use(model_.tensors_.size(), 0);
    for (std::size_t i = 0; i < model_.layers_.size(); ++i) {
      for (const std::size_t input : model_.layers_[i].inputs) last_use[input] = i;
      last_use[model_.layers_[i].output] = i;
    }
    for (const std::size_t output : model_.outputs_) last_use[output] = forever;

    std::vector<std::size_t> free_slots;
    const auto place = [&](std::size_t tensor) {
      if (free_slots.empty()) {
        free_slots.push_back(model_.slot_floats_.size());
        model_.slot_floats_.push_back(0);
      }
      const std::size_t slot = free_slots.back();
      free_slots.pop_back();
      model_.tensors_[tensor].slot = slot;
      int64_t& floats = model_.slot_floats_[slot];
      floats = std::max(floats, model_.tensors_[tensor].shape.elements());
    };
    for (const std::size_t input : model_.inputs_) place(input);
    for (std::size_t i = 0; i < model_.layers_.size(); ++i) {
      const Layer& layer = model_.layers_[i];
      place(layer.output);
      std::vector<std::size_t> done = layer.inputs;
      done.push_back(layer.output);
      std::sort(done.begin(), done.end());
      done.erase(std::unique(done.begin(), done.end()), done.end());
      for (const std::size_t tensor : done) {
        if (last_use[tensor] == i) free_slots.push_back(model_.tensors_[tensor].slot);
      }
    }
  }

  void check_memory() const {
    int64_t total = model_.scratch_floats_;
    for (const int64_t floats : model_.slot_floats_) total += floats * model_.max_batch_;
    if (total > kMaxWorkspaceFloats) {
      throw ModelError("model: one execution would need " + std::to_string(total * 4) +
                       " bytes, the limit is " + std::to_string(kMaxWorkspaceFloats * 4));
    }
  }

  const nlohmann::json& document_;
  uint64_t seed_ = 0;
  WeightBudget budget_;
  std::map<std::string, std::size_t> tensor_by_name_;
  Model model_;
};

Model Model::parse(std::span<const char> bytes) {
  if (bytes.size() > kMaxModelBytes) {
    throw ModelError("model: the file has " + std::to_string(bytes.size()) +
                     " bytes, the limit is " + std::to_string(kMaxModelBytes));
  }
  try {
    const nlohmann::json document = nlohmann::json::parse(bytes.begin(), bytes.end());
    return ModelParser(document).parse();
  } catch (const nlohmann::json::parse_error& error) {
    throw ModelError("model: not a JSON model file of this runtime (byte " +
                     std::to_string(error.byte) + "); an .om file runs on a board only");
  } catch (const nlohmann::json::exception& error) {
    throw ModelError(std::string("model: ") + error.what());
  }
}

void Model::prepare(Workspace& workspace, int64_t batch) const {
  workspace.slots.resize(slot_floats_.size());
  for (std::size_t slot = 0; slot < slot_floats_.size(); ++slot) {
    const auto floats = static_cast<std::size_t>(slot_floats_[slot] * batch);
    if (workspace.slots[slot].size() < floats) workspace.slots[slot].resize(floats);
  }
  if (workspace.scratch.size() < static_cast<std::size_t>(scratch_floats_)) {
    workspace.scratch.resize(static_cast<std::size_t>(scratch_floats_));
  }
}

std::size_t Model::workspace_bytes(int64_t batch) const {
  int64_t floats = scratch_floats_;
  for (const int64_t slot : slot_floats_) floats += slot * batch;
  return static_cast<std::size_t>(floats) * sizeof(float);
}

std::size_t Model::weight_bytes() const {
  int64_t bytes = 0;
  for (const Layer& layer : layers_) bytes += layer.operation->work.weight_bytes;
  return static_cast<std::size_t>(bytes);
}

void Model::run(Workspace& workspace, int64_t batch, LayerObserver* observer) const {
  std::vector<const float*> inputs;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const bool observed = observer != nullptr && observer->wants_layer(i);
    const uint64_t start_ns = observed ? monotonic_ns() : 0;
    for (int64_t image = 0; image < batch; ++image) {
      inputs.clear();
      for (const std::size_t input : layer.inputs) {
        inputs.push_back(values(workspace, input) + image * tensors_[input].shape.elements());
      }
      float* output =
          values(workspace, layer.output) + image * tensors_[layer.output].shape.elements();
      layer.operation->run(inputs.data(), workspace.scratch.data(), output);
    }
    if (observed) observer->layer_done(i, start_ns, monotonic_ns());
  }
}

}  // namespace msprof::runtime
