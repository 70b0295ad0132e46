#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "derive/passes.hpp"

namespace msprof {

namespace {

constexpr std::size_t kMaxListedModels = 16;
constexpr int kMaxModelNameWidth = 200;

// Returns the texts of the first column, one per line.
std::string read_lines(const Database& db, std::string_view sql) {
  std::string lines;
  Statement read = db.prepare(sql);
  for (std::size_t count = 0; count < kMaxListedModels && read.step(); ++count) {
    std::string line = shorten(read.text(0), kMaxModelNameWidth);
    std::replace(line.begin(), line.end(), '\n', ' ');
    if (!line.empty()) lines += (lines.empty() ? "" : "\n") + line;
  }
  return lines;
}

std::string read_models(const Database& db) {
  std::string loaded = read_lines(db,
                                  "SELECT name.text FROM model JOIN name ON name.id = model.name_id"
                                  " GROUP BY name.text ORDER BY min(model.id)");
  if (!loaded.empty()) return loaded;
  return read_lines(db,
                    "SELECT name.text FROM fusion_op JOIN name ON name.id = fusion_op.model_name_id"
                    " GROUP BY name.text ORDER BY min(fusion_op.id)");
}

}  // namespace

void write_execution_times(TraceDbWriter& store, std::vector<std::int64_t> times_ns) {
  store.set_meta(meta::kExecutions, std::to_string(times_ns.size()));
  std::erase_if(times_ns, [](std::int64_t time) { return time <= 0; });
  if (times_ns.empty()) return;
  // For an even count, uses the lower of the two middle values, so that the median is a measured
  // time.
  const auto middle = times_ns.begin() + static_cast<std::ptrdiff_t>((times_ns.size() - 1) / 2);
  std::nth_element(times_ns.begin(), middle, times_ns.end());
  store.set_meta(meta::kMedianNs, std::to_string(*middle));
}

void derive_run_summary(TraceDbWriter& store) {
  const Database& db = store.readable();
  const std::string models = read_models(db);
  const std::string batches = read_lines(
      db, "SELECT DISTINCT batch_num FROM step WHERE batch_num IS NOT NULL ORDER BY batch_num");
  std::vector<std::int64_t> iterations;
  {
    Statement read = db.prepare("SELECT duration_ns FROM iteration ORDER BY id");
    while (read.step()) iterations.push_back(read.maybe_integer(0).value_or(0));
  }
  store.set_meta(meta::kModels, models);
  store.set_meta(meta::kBatches, batches);
  if (!iterations.empty()) write_execution_times(store, std::move(iterations));
}

}  // namespace msprof
