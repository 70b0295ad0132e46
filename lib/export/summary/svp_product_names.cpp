#include "export/summary/svp_product_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"

namespace msprof::svp {

std::vector<Model> models(const Database& db) {
  std::vector<Model> result;
  Statement read = db.prepare(
      "SELECT model.id, model.device_id, model.model_id, name.text, model.batch_num, "
      "CASE WHEN device.frequency_hz > 0 THEN device.frequency_hz END"
      " FROM model JOIN name ON name.id = model.name_id LEFT JOIN device ON device.id = "
      "model.device_id"
      " ORDER BY model.id");
  while (read.step()) {
    result.push_back({read.integer(0), read.integer(1), read.integer(2), std::string(read.text(3)),
                      read.maybe_integer(4), read.maybe_integer(5)});
  }
  return result;
}

namespace {

std::vector<Capture> read_captures(const Database& db, const std::string& where,
                                   std::int64_t step_id) {
  std::map<std::int64_t, Model> by_row;
  for (Model& model : models(db)) by_row.emplace(model.row, std::move(model));
  std::vector<Capture> result;
  Statement read = db.prepare(
      "SELECT id, model_row, number, batch_num, input_pic_num, current_pic_count, icache_hit, "
      "icache_miss"
      " FROM step WHERE " +
      where + " ORDER BY id");
  read.bind(1, step_id);
  while (read.step()) {
    const auto model = by_row.find(read.integer(1));
    if (model == by_row.end()) throw db.damaged("a step without its model");
    result.push_back({read.integer(0), model->second, read.integer(2), read.integer(3),
                      read.integer(4), read.integer(5), read.maybe_integer(6),
                      read.maybe_integer(7)});
  }
  return result;
}

}  // namespace

std::vector<Capture> captures_with_tasks(const Database& db) {
  return read_captures(db, "id >= ? AND EXISTS(SELECT 1 FROM task_run WHERE step_id = step.id)", 0);
}

Capture capture(const Database& db, std::int64_t step_id) {
  auto found = read_captures(db, "id = ?", step_id);
  if (found.empty()) {
    throw Error(Exit::internal_error, fmt::format("the store has no step {}", step_id));
  }
  return std::move(found.front());
}

std::string model_stem(const Model& model) {
  return fmt::format("{}.{}.{}", model.device_id, file_name_part(model.name), model.model_id);
}

std::string frequency_mhz(std::optional<std::int64_t> frequency_hz) {
  if (!frequency_hz) return "";
  std::string text = fixed(*frequency_hz, 1'000'000, 6);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string icache_miss_rate(const Capture& one) {
  if (!one.icache_hit || !one.icache_miss) return "";
  const int128 all = static_cast<int128>(*one.icache_hit) + *one.icache_miss;
  return all == 0 ? "" : fixed(*one.icache_miss, all, 4);
}

std::string or_na(const std::string& text) {
  return text.empty() ? "NA" : text;
}

}  // namespace msprof::svp
