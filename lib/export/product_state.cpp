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
const std::vector<std::string>& product_prefixes() {
  static const auto prefixes = [] {
    std::vector<std::string> all{"msprof_", "msprof.", "prof_rule_"};
    for (const auto& table : all_summary_tables()) all.push_back(fmt::format("{}_", table->name()));
    for (const auto& table : cann5_tables()) all.push_back(fmt::format("{}_", table->name()));
    for (const auto& layer : all_timeline_layers())
      all.push_back(fmt::format("{}_", layer->name()));
    for (const auto& topic : cann5_timelines()) all.push_back(fmt::format("{}_", topic.name));
    return all;
  }();
  return prefixes;
}

}  // namespace

bool is_product_name(const std::string& name) {
  const auto& prefixes = product_prefixes();
  return (name.ends_with(".csv") || name.ends_with(".json") || name.ends_with(".json.gz") ||
          name.ends_with(".db")) &&
         std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return name.starts_with(prefix); });
}

std::vector<fs::path> outdated_products(const TraceDb& store,
                                        const std::vector<ExportedFile>& written) {
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
      if (is_product_name(entry.path().filename().string()) && !fresh.contains(entry.path()) &&
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
    if (layer->info().is_default && layer->documents(db).empty())
      names.push_back(fmt::format("timeline {}", layer->name()));
  }
  return names;
}

}  // namespace msprof
