#include "export/products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "export/exporter.hpp"
#include "export/scope/export_style.hpp"
#include "store/schema.hpp"

namespace msprof {

namespace {

using Tables = std::vector<std::unique_ptr<SummaryTable>>;
using Layers = std::vector<std::unique_ptr<TimelineLayer>>;

template <typename Products>
Products of_dialect(const Database& db, Products all) {
  std::string dialect = read_meta(db, "dialect");
  if (is_of_atlas(db)) dialect = dialect_name(Dialect::cann);
  std::erase_if(
      all, [&](const auto& product) { return dialect_name(product->info().dialect) != dialect; });
  return all;
}

// "op_summary_", …
const std::vector<std::string>& product_prefixes() {
  static const auto prefixes = [] {
    std::vector<std::string> all{"msprof_", "msprof.", "prof_rule_", std::string(kMergedTimeline)};
    for (const auto& table : all_summary_tables()) all.push_back(fmt::format("{}_", table->name()));
    for (const auto& table : cann5_tables("all")) all.push_back(fmt::format("{}_", table->name()));
    for (const auto& layer : all_timeline_layers())
      all.push_back(fmt::format("{}_", layer->name()));
    for (const std::string_view name : cann5_timelines()) all.push_back(fmt::format("{}_", name));
    return all;
  }();
  return prefixes;
}

// Returns true if a raw kind that the product needs was read.
bool needs_any(const RawNeeds& needs, const std::set<std::string>& kinds) {
  for (const std::string_view group : split(needs.kinds, ' ')) {
    for (const std::string_view kind : split(group, '|')) {
      if (kinds.contains(std::string(kind))) return true;
    }
  }
  return false;
}

}  // namespace

Tables all_summary_tables() {
  Tables all;
#define TABLE(name) all.push_back(make_##name());
#define LAYER(name)
#include "export/products.def"
  return all;
}

Tables summary_tables(const Database& db) {
  return of_dialect(db, all_summary_tables());
}

Layers all_timeline_layers() {
  Layers all;
#define TABLE(name)
#define LAYER(name) all.push_back(make_##name());
#include "export/products.def"
  return all;
}

Layers timeline_layers(const Database& db) {
  return of_dialect(db, all_timeline_layers());
}

Tables default_tables(const Database& db) {
  if (is_old_capture(db)) return cann5_tables(read_generation(db));
  Tables tables = summary_tables(db);
  std::erase_if(
      tables, [](const auto& table) { return !table->is_exported() || !table->info().is_default; });
  return tables;
}

bool is_product_name(const std::string& name) {
  const auto& prefixes = product_prefixes();
  return (name.ends_with(".csv") || name.ends_with(".json") || name.ends_with(".json.gz") ||
          name.ends_with(".perfetto-trace") || name.ends_with(".db")) &&
         std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return name.starts_with(prefix); });
}

std::vector<std::string> empty_products(const Database& db, const std::set<std::string>& kinds) {
  const auto is_expected = [&](const auto& info) {
    // Most chips do not have these engines, so missing data is normal.
    if (info.group == kEngineLayers) return false;
    return info.group.empty() || needs_any(info.needs, kinds);
  };
  std::vector<std::string> names;
  for (const auto& table : default_tables(db)) {
    if (is_of_its_time(db, table->info()) && is_expected(table->info()) && !table->has_files(db)) {
      names.push_back(fmt::format("summary {}", table->name()));
    }
  }
  if (is_old_capture(db)) return names;
  for (const auto& layer : timeline_layers(db)) {
    if (layer->info().is_default && is_expected(layer->info()) && !layer->has_files(db))
      names.push_back(fmt::format("timeline {}", layer->name()));
  }
  return names;
}

}  // namespace msprof
