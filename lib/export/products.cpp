#include "export/products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "export/exporter.hpp"
#include "export/scope/export_style.hpp"
#include "store/schema.hpp"

namespace msprof {

namespace {

using Tables = std::vector<std::unique_ptr<SummaryTable>>;
using Layers = std::vector<std::unique_ptr<TimelineLayer>>;

Tables tables_of_all_styles() {
  Tables all;
#define TABLE(name) all.push_back(make_##name());
#define LAYER(name)
#include "export/products.def"
#undef TABLE
#undef LAYER
  return all;
}

Layers layers_of_all_ages() {
  Layers all;
#define TABLE(name)
#define LAYER(name) all.push_back(make_##name());
#include "export/products.def"
#undef TABLE
#undef LAYER
  return all;
}

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
    for (const auto& topic : cann5_timelines()) all.push_back(fmt::format("{}_", topic.name));
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
  Tables all = tables_of_all_styles();
  std::erase_if(all, [](const auto& table) {
    const TableInfo& info = table->info();
    return info.is_cann5_only || info.age != ProductAge::current;
  });
  return all;
}

Tables summary_tables(const Database& db) {
  return of_dialect(db, all_summary_tables());
}

Layers all_timeline_layers() {
  Layers all = layers_of_all_ages();
  std::erase_if(all, [](const auto& layer) { return layer->info().age != ProductAge::current; });
  return all;
}

Layers timeline_layers(const Database& db) {
  return of_dialect(db, all_timeline_layers());
}

Tables cann5_tables(std::string_view generation) {
  Tables all = tables_of_all_styles();
  const ProductAge age = to_product_age(generation);
  std::erase_if(all, [&](const auto& table) {
    return table->info().cann5_place == 0 || table->info().age > age;
  });
  std::map<std::string_view, ProductAge> oldest;
  for (const auto& table : all) {
    const TableInfo& info = table->info();
    oldest[info.name] = std::max(oldest[info.name], info.age);
  }
  std::erase_if(all,
                [&](const auto& table) { return table->info().age != oldest[table->info().name]; });
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a->info().cann5_place < b->info().cann5_place;
  });
  for (auto& table : all) {
    if (table->info().age == ProductAge::current) table = make_cann5_table(std::move(table));
  }
  return all;
}

Tables default_tables(const Database& db) {
  if (is_old_capture(db)) return cann5_tables(read_generation(db));
  Tables tables = summary_tables(db);
  std::erase_if(tables, [](const auto& table) { return !table->is_exported(); });
  return tables;
}

bool is_of_its_time(const Database& db, const TableInfo& table) {
  const ProductAge age = to_product_age(read_generation(db));
  return age == ProductAge::current || table.age == age;
}

ProductAge to_product_age(std::string_view generation) {
  if (generation == "classic" || generation == "all") return ProductAge::classic;
  return generation.empty() ? ProductAge::current : ProductAge::cann5;
}

Layers cann5_layers(const Database& db, ProductAge age) {
  Layers all = of_dialect(db, layers_of_all_ages());
  std::erase_if(all, [&](const auto& layer) { return layer->info().age > age; });
  return all;
}

std::vector<Cann5Timeline> cann5_timelines(ProductAge age) {
  std::map<int, Cann5Timeline> topics;
  std::vector<std::string_view> whole;
  for (const auto& layer : layers_of_all_ages()) {
    const LayerInfo& info = layer->info();
    if (info.age > age) continue;
    for (const Cann5Topic& topic : info.cann5_topics) {
      Cann5Timeline& timeline = topics[topic.place];
      if (info.age < timeline.age) continue;
      if (info.age > timeline.age) timeline = {};
      timeline.name = topic.name;
      timeline.key = topic.key;
      timeline.folder = topic.folder;
      timeline.layers.push_back(info.name);
      timeline.age = info.age;
    }
  }
  std::vector<Cann5Timeline> all;
  all.reserve(topics.size() + 1);
  for (auto& [place, timeline] : topics) {
    // The timeline of a process already draws the activity of its threads and iterations.
    const bool is_view = timeline.key == kAiStackTime || timeline.key == kThreadGroup;
    if (!is_view) whole.insert(whole.end(), timeline.layers.begin(), timeline.layers.end());
    all.push_back(std::move(timeline));
  }
  if (age == ProductAge::current) {
    all.push_back({"msprof", 0, Cann5Folder::capture});
  } else {
    all.push_back({"msprof", kWholeTimeline, Cann5Folder::capture, whole, age});
  }
  return all;
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
    if (is_of_its_time(db, table->info()) && is_expected(table->info()) &&
        table->output_files(db).empty()) {
      names.push_back(fmt::format("summary {}", table->name()));
    }
  }
  if (is_old_capture(db)) return names;
  for (const auto& layer : timeline_layers(db)) {
    if (layer->info().is_default && is_expected(layer->info()) && layer->output_files(db).empty())
      names.push_back(fmt::format("timeline {}", layer->name()));
  }
  return names;
}

}  // namespace msprof
