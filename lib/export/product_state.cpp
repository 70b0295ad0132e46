// What products a store gives, and which of those on disk are older than it.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "export/exporter.hpp"
#include "export/products.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// "op_summary_", … : how the names of our products begin.
std::vector<std::string> product_prefixes(const Database& db) {
  std::vector<std::string> prefixes{"msprof_"};
  for (const auto& table : summary_tables(db))
    prefixes.push_back(fmt::format("{}_", table->name()));
  for (const auto& layer : timeline_layers(db)) {
    prefixes.push_back(fmt::format("{}_", layer->name()));
  }
  return prefixes;
}

bool is_product(const std::string& name, const std::vector<std::string>& prefixes) {
  return (name.ends_with(".csv") || name.ends_with(".json") || name.ends_with(".json.gz") ||
          name.ends_with(".db")) &&
         std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const auto& prefix) { return name.starts_with(prefix); });
}

}  // namespace

std::vector<fs::path> outdated_products(const TraceDb& store,
                                        const std::vector<ExportedFile>& written) {
  const auto prefixes = product_prefixes(store.database());
  std::set<fs::path> fresh;
  std::set<fs::path> folders;
  for (const ExportedFile& file : written) {
    fresh.insert(file.path);
    folders.insert(file.path.parent_path());
  }
  std::error_code error;
  const auto made = fs::last_write_time(store.path(), error);
  std::vector<fs::path> outdated;
  for (const fs::path& folder : folders) {
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (is_product(entry.path().filename().string(), prefixes) && !fresh.contains(entry.path()) &&
          entry.last_write_time(error) < made) {
        outdated.push_back(entry.path());
      }
    }
  }
  std::sort(outdated.begin(), outdated.end());
  return outdated;
}

std::vector<std::string> empty_products(const Database& db) {
  std::vector<std::string> names;
  for (const auto& table : summary_tables(db)) {
    if (table->is_exported() && table->documents(db).empty()) {
      names.push_back(fmt::format("summary {}", table->name()));
    }
  }
  for (const auto& layer : timeline_layers(db)) {
    if (layer->is_default() && layer->documents(db).empty())
      names.push_back(fmt::format("timeline {}", layer->name()));
  }
  return names;
}

}  // namespace msprof
