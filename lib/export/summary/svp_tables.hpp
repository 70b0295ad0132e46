// Models and captures of an svp store, and the names of its products. For the svp exports.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/number.hpp"
#include "store/database.hpp"
#include "store/schema.hpp"

namespace msprof::svp {

struct SvpModel {
  std::int64_t row = 0;
  std::int64_t device_id = 0;
  std::int64_t model_id = 0;
  std::string name;                          // as in the raw file names, so at most 255 bytes
  std::optional<std::int64_t> batch_num;     // from net.info
  std::optional<std::int64_t> frequency_hz;  // of the device
};

// One capture: executions whose records were saved together.
struct SvpCapture {
  std::int64_t step_id = 0;
  SvpModel model;
  std::int64_t number = 0;  // iter_id: number within the model
  std::int64_t batch_num = 0;
  std::int64_t input_pic_num = 0;
  std::int64_t current_pic_count = 0;
  std::optional<std::int64_t> icache_hit;
  std::optional<std::int64_t> icache_miss;
};

// Returns the models in row order.
std::vector<SvpModel> models(const Database& db);
// Calls `visit` for each capture that has tasks, in the order of their ids, until it returns false.
// Only these have products.
void visit_captures(const Database& db, const std::function<bool(const SvpCapture&)>& visit);
// Returns one capture, without the name of its model. Throws Error(internal_error) if there is
// none.
SvpCapture capture(const Database& db, std::int64_t step_id);

// Returns "<device>.<model>.<model_id>", with the model's name sanitized for a file name.
std::string model_stem(const SvpModel& model);
// Returns "1000", "19.2"; empty if unknown.
std::string frequency_mhz(std::optional<std::int64_t> frequency_hz);
// Returns "0.0123"; empty if unknown.
std::string icache_miss_rate(const SvpCapture& capture);
// Returns `text`, or "NA" if it is empty: a file name cannot contain the slash of "N/A".
std::string or_na(const std::string& text);

// Counters summed over the tasks of one capture, by operator, for op_summary and op_statistic.

enum SvpCounter : std::size_t {
  kTotalCycles,
  kMacBusy,
  kMacPpen,
  kVecBusy,
  kVecPpen,
  kDstr,
  kDtrans,
  kDld,
  kWld,
  kDdrRead,
  kDdrWrite,
  kCounterCount
};

using NameText = std::shared_ptr<const std::string>;

// Reads names, each once: many rows of a foreign store may refer to a long one.
class NameTexts {
 public:
  // `select` has the id of the name as its parameter.
  explicit NameTexts(const Database& db, const char* select = "SELECT text FROM name WHERE id = ?")
      : db_(db), select_(select) {}
  // Returns null if there is no such name.
  const NameText& find(std::int64_t name_id);

 private:
  const Database& db_;
  const char* select_;
  std::map<std::int64_t, NameText> texts_;
};

// `original_names`: the names of the layers that were fused into one, joined by '+'.
inline bool is_fused(std::string_view original_names) {
  return original_names.find('+') != std::string_view::npos;
}

struct LayerTotal {
  std::optional<std::int64_t> layer_id;
  NameText name;
  NameText original_names;
  NameText type;
  bool is_on_cpu = false;            // AA_CPU, else AA_CORE
  std::int64_t count = 0;            // records
  std::int64_t execution_count = 0;  // executions with at least one record
  std::int64_t first_start_ns = INT64_MAX;
  std::optional<int128> duration_sum_ns;  // for CPU operators
  std::optional<std::int64_t> longest_ns;
  std::optional<std::int64_t> shortest_ns;
  std::array<std::optional<int128>, kCounterCount> counters;  // sums; empty if a record has none

  // Returns the name in timelines and statistics: for a fused layer its original names, joined.
  const NameText& joined_name() const { return is_fused(*original_names) ? original_names : name; }
  // Returns the exact time of all records in ns; empty if the frequency is unknown.
  std::optional<Fraction> time_ns(std::optional<std::int64_t> frequency_hz) const;
};

// Returns the operators of a capture that have records, in the order of nets and layers.
std::vector<LayerTotal> layer_totals(const Database& db, const SvpCapture& capture);

// The weight of each operator: its time, or its cycles if the frequency is unknown and no operator
// ran on a CPU; empty if neither is known. `per_execution` divides by the number of executions.
std::vector<std::optional<Fraction>> weights(const std::vector<LayerTotal>& layers,
                                             std::optional<std::int64_t> frequency_hz,
                                             bool per_execution);

// Returns the sum; empty if a part is empty or there are no parts.
std::optional<Fraction> sum(const std::vector<std::optional<Fraction>>& parts);

// Returns part / whole in percent with three decimals; empty if the whole is empty or 0.
std::optional<std::string> percent(const std::optional<Fraction>& part,
                                   const std::optional<Fraction>& whole);

}  // namespace msprof::svp
