#include "store/run_summary.hpp"

#include <sqlite3.h>

#include <array>

#include "base/text.hpp"
#include "store/any_version_meta.hpp"
#include "store/trace_db.hpp"

namespace msprof {

namespace {

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty()) lines.emplace_back(line);
  }
  return lines;
}

}  // namespace

std::optional<RunSummary> read_run_summary(const std::filesystem::path& store) {
  constexpr std::array<std::string_view, 10> kKeys = {
      "verdict",       "verdict_text", meta::kModels, meta::kBatches, meta::kExecutions,
      meta::kMedianNs, "unit_loads",   "layout_file", meta::kRank,    "layout_origin"};
  // A store is untrusted input.
  constexpr std::size_t kMaxTextBytes = 4'000;
  auto texts = read_any_metas(store, kKeys);
  if (texts.size() != kKeys.size()) return std::nullopt;
  for (std::string& text : texts) {
    if (text.size() > kMaxTextBytes) text.resize(kMaxTextBytes);
  }
  RunSummary summary;
  summary.verdict = texts[0];
  summary.verdict_text = texts[1];
  summary.models = lines_in(texts[2]);
  summary.batches = lines_in(texts[3]);
  summary.executions = parse_i64(texts[4]);
  summary.median_ns = parse_i64(texts[5]);
  summary.has_modelled_loads = texts[6] == "modelled";
  summary.layout_file = texts[7];
  summary.rank = parse_i64(texts[8]);
  summary.has_inferred_layout = texts[9] == "inferred";
  return summary;
}

void count_no_memory_of_stores() {
  // If called too late it has no effect: memory is then counted.
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

}  // namespace msprof
