#include "analyze/verdict.hpp"

#include <algorithm>

#include "export/exporter.hpp"
#include "export/products.hpp"

namespace msprof {

void note_empty_products(const Database& db, ImportReport& report) {
  for (const std::string& name : empty_products(db)) {
    report.add(FindingId::no_product, name, "", "no data, will not be written");
  }
}

bool has_any_product(const Database& db) {
  const auto tables = summary_tables(db);
  const auto layers = timeline_layers(db);
  return std::any_of(tables.begin(), tables.end(),
                     [&](const auto& table) {
                       return table->is_exported() && !table->documents(db).empty();
                     }) ||
         std::any_of(layers.begin(), layers.end(),
                     [&](const auto& layer) { return !layer->documents(db).empty(); });
}

}  // namespace msprof
