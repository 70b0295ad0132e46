#include "export/products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "export/scope/export_files.hpp"
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

// Returns true for captures of Atlas machines, of any version.
bool is_of_atlas(const Database& db) {
  const std::string dialect = read_meta(db, "dialect");
  return dialect == dialect_name(Dialect::cann) || dialect == dialect_name(Dialect::classic);
}

template <typename Products>
Products of_dialect(const Database& db, Products all) {
  std::string dialect = read_meta(db, "dialect");
  if (is_of_atlas(db)) dialect = dialect_name(Dialect::cann);
  std::erase_if(
      all, [&](const auto& product) { return dialect_name(product->info().dialect) != dialect; });
  return all;
}

}  // namespace

Tables all_summary_tables() {
  Tables all = tables_of_all_styles();
  std::erase_if(all, [](const auto& table) {
    const TableInfo& info = table->info();
    return info.is_cann5_only || info.age != ProductAge::today;
  });
  return all;
}

Tables summary_tables(const Database& db) {
  return of_dialect(db, all_summary_tables());
}

namespace {

Layers layers_of_all_ages() {
  Layers all;
#define TABLE(name)
#define LAYER(name) all.push_back(make_##name());
#include "export/products.def"
#undef TABLE
#undef LAYER
  return all;
}

}  // namespace

Layers all_timeline_layers() {
  Layers all = layers_of_all_ages();
  std::erase_if(all, [](const auto& layer) { return layer->info().age != ProductAge::today; });
  return all;
}

Layers timeline_layers(const Database& db) {
  return of_dialect(db, all_timeline_layers());
}

Tables cann5_tables(std::string_view generation) {
  Tables all = tables_of_all_styles();
  const ProductAge age = age_of(generation);
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
    if (table->info().age == ProductAge::today) table = make_cann5_table(std::move(table));
  }
  return all;
}

Tables default_tables(const Database& db) {
  if (is_old_capture(db)) return cann5_tables(generation_of(db));
  Tables tables = summary_tables(db);
  std::erase_if(tables, [](const auto& table) { return !table->is_exported(); });
  return tables;
}

bool is_of_its_time(const Database& db, const TableInfo& table) {
  const ProductAge age = age_of(generation_of(db));
  return age == ProductAge::today || table.age == age;
}

ProductAge age_of(std::string_view generation) {
  if (generation == "classic" || generation == "all") return ProductAge::classic;
  return generation.empty() ? ProductAge::today : ProductAge::cann5;
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
  if (age == ProductAge::today) {
    all.push_back({"msprof", 0, Cann5Folder::capture});
  } else {
    all.push_back({"msprof", kWholeTimeline, Cann5Folder::capture, whole, age});
  }
  return all;
}

namespace {

std::string products_folder(const Database& db, std::string_view of_svp) {
  return is_of_atlas(db) ? "mindstudio_profiler_output" : std::string(of_svp);
}

}  // namespace

std::string generation_of(const Database& db) {
  return read_meta(db, "generation");
}

bool is_old_capture(const Database& db) {
  return !generation_of(db).empty();
}

ExportStyle style_for(const Database& db, ExportStyle style) {
  if (style != ExportStyle::of_capture) return style;
  return is_old_capture(db) ? ExportStyle::cann5 : ExportStyle::current;
}

std::filesystem::path cann5_folder(const Database& db, const std::filesystem::path& base,
                                   const std::string& part, const std::string& name) {
  // A folder that contains device_N/ would look like a PROF folder.
  if (generation_of(db) == "classic") return product_folder(base, name);
  return product_folder(product_folder(base, part), name);
}

void check_style(const Database& db, const ExportScope& scope, ExportStyle style) {
  if (is_of_atlas(db)) return;
  if (style == ExportStyle::cann5 || style == ExportStyle::cann8) {
    throw Error(
        Exit::usage,
        fmt::format("--style {} is for captures of Atlas machines (PROF…); this one is of a "
                    "board (JOB…): leave it out",
                    style == ExportStyle::cann5 ? "cann5" : "cann8"));
  }
  if (scope.model_number || scope.iteration) {
    throw Error(Exit::usage,
                "--model-id and --iteration-id are for captures of Atlas machines (PROF…); a board "
                "(JOB…) records no iterations: leave them out");
  }
}

std::string summary_folder(const Database& db) {
  return products_folder(db, "summary");
}

std::string timeline_folder(const Database& db) {
  return products_folder(db, "timeline");
}

bool has_unified_db(const Database& db) {
  return is_of_atlas(db);
}

bool has_merged_timeline(const Database& db) {
  return read_meta(db, "dialect") == dialect_name(Dialect::svp);
}

}  // namespace msprof
