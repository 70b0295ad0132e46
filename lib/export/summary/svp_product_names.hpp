// Models and captures of an svp store, and how its products are called. For the svp exports.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/database.hpp"
#include "store/schema.hpp"

namespace msprof::svp {

struct Model {
  std::int64_t row = 0;
  std::int64_t device_id = 0;
  std::int64_t model_id = 0;
  std::string name;                          // as in the raw file names
  std::optional<std::int64_t> batch_num;     // of net.info
  std::optional<std::int64_t> frequency_hz;  // of the device
};

// One capture: executions whose records were saved together.
struct Capture {
  std::int64_t step_id = 0;
  Model model;
  std::int64_t number = 0;  // within the model: iter_id
  std::int64_t batch_num = 0;
  std::int64_t input_pic_num = 0;
  std::int64_t current_pic_count = 0;
  std::optional<std::int64_t> icache_hit;
  std::optional<std::int64_t> icache_miss;
};

// In the order of their rows.
std::vector<Model> models(const Database& db);
// Captures that have tasks: only they make products.
std::vector<Capture> captures_with_tasks(const Database& db);
Capture capture(const Database& db, std::int64_t step_id);

// "<device>.<model>.<model_id>", the model's name made safe for a file name.
std::string model_stem(const Model& model);
// "1000", "19.2"; empty when unknown.
std::string frequency_mhz(std::optional<std::int64_t> frequency_hz);
// "0.0123"; empty when unknown.
std::string icache_miss_rate(const Capture& capture);
// `text`, or "NA" where it is empty: a name cannot hold the slash of "N/A".
std::string or_na(const std::string& text);

}  // namespace msprof::svp
