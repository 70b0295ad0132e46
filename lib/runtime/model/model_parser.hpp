// Turns the JSON of a model file into a Model; one use a model.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "runtime/model/model.hpp"

namespace msprof::runtime {

class ModelParser {
 public:
  explicit ModelParser(const nlohmann::json& document);
  Model parse();

 private:
  void read_input(const nlohmann::json& object);
  void read_layer(const nlohmann::json& object);
  void read_outputs(LayerReader& reader);
  std::size_t find_tensor(const LayerReader& reader, const std::string& name) const;
  std::size_t add_tensor(const LayerReader& reader, const std::string& name,
                         const TensorShape& shape);
  void place_tensors();
  void check_memory() const;

  const nlohmann::json& document_;
  uint64_t seed_ = 0;
  WeightBudget budget_;
  std::map<std::string, std::size_t> tensor_by_name_;
  Model model_;
};

}  // namespace msprof::runtime
