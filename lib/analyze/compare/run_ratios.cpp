#include "analyze/compare/run_ratios.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/text.hpp"
#include "export/table_reader.hpp"

namespace msprof {

namespace {

// The fields before the ratios; of the first three and the time one table has the first name, the
// other the second.
const std::vector<std::string> kFixedFields = {"op_name",       "layer_name",   "op_type",
                                               "layer_type",    "input_shapes", "output_shapes",
                                               "task_duration", "time"};

bool is_ratio(std::string_view field) {
  // How much of the run an operator takes is no load.
  if (field == "time_ratio") return false;
  for (const std::string_view end : {"_ratio", "_bound", "_utilization", "_rate"})
    if (field.ends_with(end)) return true;
  return false;
}

std::vector<std::string> ratio_fields(const Database& db) {
  const auto table = find_table(db, "op_summary");
  if (table == nullptr) return {};
  auto fields = fields_of(db, *table);
  std::erase_if(fields, [](const std::string& field) { return !is_ratio(field); });
  return fields;
}

std::string key_of(std::string_view name, std::string_view type, std::string_view shapes) {
  std::string key = std::string(name) + '\n' + std::string(type) + '\n' + std::string(shapes);
  // The table quotes its shapes.
  key.erase(std::remove(key.begin(), key.end(), '"'), key.end());
  return key;
}

struct WeightedMeans {
  std::vector<double> sums;
  std::vector<double> weights;
};

const TableValue& first_known(const TableValue& a, const TableValue& b) {
  return a.text != "N/A" ? a : b;
}

class RatioCollector {
 public:
  explicit RatioCollector(std::vector<std::string> fields) : fields_(std::move(fields)) {}

  void add(std::span<const TableValue> row) {
    const double weight = first_known(row[6], row[7]).number.value_or(0);
    if (!(weight > 0)) return;
    std::string shapes = row[4].text == "N/A" ? "" : row[4].text;
    if (row[5].text != "N/A") shapes += " > " + row[5].text;
    WeightedMeans& means =
        means_[key_of(first_known(row[0], row[1]).text, first_known(row[2], row[3]).text, shapes)];
    means.sums.resize(fields_.size());
    means.weights.resize(fields_.size());
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const auto& value = row[kFixedFields.size() + i].number;
      if (!value) continue;
      means.sums[i] += weight * *value;
      means.weights[i] += weight;
    }
  }

  void give_to(RunProfile& run) const {
    for (OpProfile& op : run.ops) {
      const auto found = means_.find(key_of(op.name, op.type, op.shapes));
      if (found == means_.end()) continue;
      for (std::size_t i = 0; i < fields_.size(); ++i) {
        if (!(found->second.weights[i] > 0)) continue;
        const double mean = found->second.sums[i] / found->second.weights[i];
        op.ratios.emplace(fields_[i], mean);
        if (fields_[i].ends_with("_ratio")) run.largest_ratio = std::max(run.largest_ratio, mean);
      }
    }
    run.largest_ratio = run.largest_ratio > 1.5 ? 100 : 1;
  }

 private:
  std::vector<std::string> fields_;
  std::unordered_map<std::string, WeightedMeans> means_;
};

}  // namespace

void read_ratios(const Database& db, RunProfile& run) {
  const auto fields = ratio_fields(db);
  std::vector<std::string> wanted = kFixedFields;
  wanted.insert(wanted.end(), fields.begin(), fields.end());
  RatioCollector collector(fields);
  read_table(db, "op_summary", wanted,
             [&](std::span<const TableValue> row) { collector.add(row); });
  collector.give_to(run);
}

}  // namespace msprof
