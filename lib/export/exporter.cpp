#include "export/exporter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "export/products.hpp"
#include "export/table_writers.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// File names of one export: no two documents share one.
class FileNames {
 public:
  explicit FileNames(std::string extension) : extension_(std::move(extension)) {}

  std::string next(const std::string& stem) {
    std::string name = limited_file_name(stem, extension_);
    for (int number = 2; !taken_.insert(name).second; ++number) {
      name = limited_file_name(stem, fmt::format("~{}{}", number, extension_));
    }
    return name;
  }

 private:
  std::string extension_;
  std::set<std::string> taken_;
};

// Runs `write(file)` into a new file and keeps it when it went well. The folder is made for the
// first file: without data there is none.
template <typename Write>
void write_file(const fs::path& path, std::vector<ExportedFile>& files, Write&& write) {
  if (files.empty()) {
    create_output_folder(path.parent_path());
    remove_stale_temporaries(path.parent_path());
  }
  AtomicFile file(path);
  write(file);
  files.push_back({path, file.bytes_written()});
  file.commit();
}

using Tables = std::vector<std::unique_ptr<SummaryTable>>;

// The tables named, all when empty; Error(usage) for a name that is none of `tables`.
Tables tables_named(Tables tables, const std::vector<std::string>& names) {
  std::erase_if(tables, [](const auto& table) { return !table->is_exported(); });
  if (names.empty()) return tables;
  std::vector<std::string_view> valid;
  for (const auto& table : tables) valid.push_back(table->name());
  for (const std::string& name : names) {
    if (std::find(valid.begin(), valid.end(), name) == valid.end()) {
      throw Error(Exit::usage,
                  fmt::format("unknown summary '{}'; valid: {}", name, fmt::join(valid, ", ")));
    }
  }
  std::erase_if(tables, [&](const auto& table) {
    return std::find(names.begin(), names.end(), table->name()) == names.end();
  });
  return tables;
}

}  // namespace

std::vector<ExportedFile> export_timelines(const TraceDb& store, const fs::path& folder) {
  std::vector<ExportedFile> files;
  FileNames names(".json");
  for (const auto& layer : timeline_layers(store.database())) {
    for (const Document& document : layer->documents(store.database())) {
      write_file(folder / names.next(document.stem), files, [&](AtomicFile& file) {
        TraceJsonWriter writer(file);
        layer->write(store.database(), document, writer);
        writer.finish();
      });
    }
  }
  return files;
}

bool is_summary_name(const std::string& name) {
  const auto tables = all_summary_tables();
  return std::any_of(tables.begin(), tables.end(), [&](const auto& table) {
    return table->is_exported() && table->name() == name;
  });
}

void check_summary_names(const std::vector<std::string>& names) {
  tables_named(all_summary_tables(), names);
}

std::vector<ExportedFile> export_summaries(const TraceDb& store, const fs::path& folder,
                                           SummaryFormat format,
                                           const std::vector<std::string>& names) {
  std::vector<ExportedFile> files;
  FileNames file_names(format == SummaryFormat::csv ? ".csv" : ".json");
  for (const auto& table : tables_named(summary_tables(store.database()), names)) {
    for (const Document& document : table->documents(store.database())) {
      write_file(folder / file_names.next(document.stem), files, [&](AtomicFile& file) {
        CsvWriter csv(file);
        JsonTableWriter json(file);
        TableWriter& out = format == SummaryFormat::csv ? static_cast<TableWriter&>(csv) : json;
        out.begin(table->columns());
        table->write(store.database(), document, out);
        out.end();
      });
    }
  }
  return files;
}

std::vector<fs::path> outdated_products(const TraceDb& store, const fs::path& folder,
                                        const std::vector<ExportedFile>& written) {
  std::vector<std::string> prefixes;
  for (const auto& table : summary_tables(store.database())) {
    prefixes.push_back(fmt::format("{}_", table->name()));
  }
  for (const auto& layer : timeline_layers(store.database())) {
    prefixes.push_back(fmt::format("{}_", layer->name()));
  }
  std::set<fs::path> fresh;
  for (const ExportedFile& file : written) fresh.insert(file.path.filename());
  std::error_code error;
  const auto made = fs::last_write_time(store.path(), error);
  std::vector<fs::path> outdated;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool is_ours = (name.ends_with(".csv") || name.ends_with(".json")) &&
                         std::any_of(prefixes.begin(), prefixes.end(),
                                     [&](const auto& prefix) { return name.starts_with(prefix); });
    if (is_ours && !fresh.contains(entry.path().filename()) &&
        entry.last_write_time(error) < made) {
      outdated.push_back(entry.path());
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
    if (layer->documents(db).empty()) names.push_back(fmt::format("timeline {}", layer->name()));
  }
  return names;
}

}  // namespace msprof
