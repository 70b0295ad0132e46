#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "export/export_files.hpp"
#include "export/exporter.hpp"
#include "export/products.hpp"
#include "export/table_writers.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

using Tables = std::vector<std::unique_ptr<SummaryTable>>;

// The tables named, all when empty; Error(usage) for a name that is none of `tables`.
Tables tables_named(Tables tables, const std::vector<std::string>& names) {
  std::erase_if(tables, [](const auto& table) { return !table->is_exported(); });
  if (names.empty()) return tables;
  std::vector<std::string_view> valid;
  for (const auto& table : tables) {
    if (std::find(valid.begin(), valid.end(), table->name()) == valid.end()) {
      valid.push_back(table->name());
    }
  }
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

// A table to be written, with the name of its file.
struct SummaryJob {
  const SummaryTable* table = nullptr;
  Document document;
  std::string file_name;
};

constexpr std::uint64_t kRowsPerSlice = 1'000'000;

fs::path slice_path(const fs::path& folder, const SummaryJob& job, std::size_t slice) {
  return folder / limited_file_name(slice_stem(job.document, slice), ".csv");
}

// One table as CSV: a file, or slices of a million rows, which all appear when the last is whole.
std::vector<ExportedFile> write_csv(const Database& db, const fs::path& folder,
                                    const SummaryJob& job) {
  std::vector<std::unique_ptr<AtomicFile>> files;
  files.push_back(std::make_unique<AtomicFile>(folder / job.file_name));
  CsvWriter out(*files.front());
  if (job.document.slice_at > 0) {
    out.slice(kRowsPerSlice, [&]() -> AtomicFile& {
      if (files.size() == 1) files.front()->retarget(slice_path(folder, job, 0));
      files.push_back(std::make_unique<AtomicFile>(slice_path(folder, job, files.size())));
      return *files.back();
    });
  }
  out.begin(job.table->columns(db));
  job.table->write(db, job.document, out);
  out.end();
  std::vector<ExportedFile> written;
  for (const auto& file : files) {
    written.push_back({file->target(), file->bytes_written()});
    file->commit();
  }
  return written;
}

std::vector<ExportedFile> write_json(const Database& db, const fs::path& folder,
                                     const SummaryJob& job) {
  AtomicFile file(folder / job.file_name);
  JsonTableWriter out(file);
  out.begin(job.table->columns(db));
  job.table->write(db, job.document, out);
  out.end();
  const ExportedFile written{file.target(), file.bytes_written()};
  file.commit();
  return {written};
}

std::vector<ExportedFile> write_summary(const Database& db, const fs::path& folder,
                                        SummaryFormat format, const SummaryJob& job) {
  return format == SummaryFormat::csv ? write_csv(db, folder, job) : write_json(db, folder, job);
}

}  // namespace

bool is_summary_name(const std::string& name) {
  const auto tables = all_summary_tables();
  return std::any_of(tables.begin(), tables.end(), [&](const auto& table) {
    return table->is_exported() && table->name() == name;
  });
}

void check_summary_names(const std::vector<std::string>& names) {
  tables_named(all_summary_tables(), names);
}

std::vector<ExportJob> plan_summaries(const TraceDb& store, const fs::path& base,
                                      const SummaryOptions& options) {
  const Database& db = store.database();
  const auto tables =
      std::make_shared<const Tables>(tables_named(summary_tables(db), options.names));
  const auto folder = std::make_shared<ProductFolder>(product_folder(base, summary_folder(db)));
  std::vector<ExportJob> jobs;
  FileNames file_names(options.format == SummaryFormat::csv ? ".csv" : ".json");
  for (const auto& table : *tables) {
    for (Document& document : table->documents(db)) {
      document.scope = options.scope;
      name_scope(document);
      std::string name = file_names.next(document.stem);
      jobs.push_back({[tables, folder, format = options.format,
                       job = SummaryJob{table.get(), std::move(document), std::move(name)}](
                          const Database& connection) {
        return write_summary(connection, folder->make(), format, job);
      }});
    }
  }
  return jobs;
}

}  // namespace msprof
