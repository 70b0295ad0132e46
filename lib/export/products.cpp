#include "export/products.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
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

// Captures of Atlas machines, of any time.
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
  std::erase_if(all, [](const auto& table) { return table->info().is_cann5_only; });
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
#undef TABLE
#undef LAYER
  return all;
}

Layers timeline_layers(const Database& db) {
  return of_dialect(db, all_timeline_layers());
}

Tables cann5_tables(std::string_view generation) {
  Tables all = tables_of_all_styles();
  // How much of the past a table is of, and how much of it the capture may have.
  const auto age_of = [](const TableInfo& info) {
    return info.is_classic ? 2 : info.is_old ? 1 : 0;
  };
  const int age = generation == "classic" || generation == "all" ? 2 : generation.empty() ? 0 : 1;
  std::map<std::string_view, int> oldest;
  for (const auto& table : all) {
    const TableInfo& info = table->info();
    if (info.cann5_place != 0 && age_of(info) <= age)
      oldest[info.name] = std::max(oldest[info.name], age_of(info));
  }
  std::erase_if(all, [&](const auto& table) {
    const TableInfo& info = table->info();
    return info.cann5_place == 0 || age_of(info) > age || age_of(info) != oldest[info.name];
  });
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a->info().cann5_place < b->info().cann5_place;
  });
  for (auto& table : all) {
    if (!table->info().is_old && !table->info().is_classic)
      table = make_cann5_table(std::move(table));
  }
  return all;
}

std::vector<Cann5Timeline> cann5_timelines() {
  std::map<int, Cann5Timeline> topics;
  for (const auto& layer : all_timeline_layers()) {
    for (const Cann5Topic& topic : layer->info().cann5_topics) {
      Cann5Timeline& timeline = topics[topic.place];
      timeline.name = topic.name;
      timeline.key = topic.key;
      timeline.folder = topic.folder;
      timeline.layers.push_back(layer->name());
    }
  }
  std::vector<Cann5Timeline> all;
  all.reserve(topics.size() + 1);
  for (auto& [place, timeline] : topics) all.push_back(std::move(timeline));
  all.push_back({"msprof", 0, Cann5Folder::capture});
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

void check_style(const Database& db, const ExportScope& scope, ExportStyle style) {
  if (is_of_atlas(db)) return;
  if (style == ExportStyle::cann5) {
    throw Error(Exit::usage,
                "--style cann5 is for captures of Atlas machines (PROF…); this one is of a board "
                "(JOB…): leave it out");
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
