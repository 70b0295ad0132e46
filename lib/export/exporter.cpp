#include "export/exporter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <set>
#include <thread>

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

// The folder is made for the first file: without data there is none.
void make_folder(const fs::path& folder) {
  create_output_folder(folder);
  remove_stale_temporaries(folder);
}

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
  std::string name = job.document.stem;
  name.insert(job.document.slice_at, fmt::format("_slice_{}", slice));
  return folder / limited_file_name(name, ".csv");
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

std::vector<SummaryJob> summary_jobs(const Database& db, const Tables& tables,
                                     SummaryFormat format) {
  std::vector<SummaryJob> jobs;
  FileNames file_names(format == SummaryFormat::csv ? ".csv" : ".json");
  for (const auto& table : tables) {
    for (Document& document : table->documents(db)) {
      std::string name = file_names.next(document.stem);
      jobs.push_back({table.get(), std::move(document), std::move(name)});
    }
  }
  return jobs;
}

// Takes jobs in turn until there are none; after an error no further one is begun.
class SummaryWorkers {
 public:
  SummaryWorkers(const std::vector<SummaryJob>& jobs, fs::path folder, SummaryFormat format)
      : jobs_(jobs),
        folder_(std::move(folder)),
        format_(format),
        written_(jobs.size()),
        errors_(jobs.size()) {}

  void work(const Database& db) noexcept {
    for (std::size_t job = next_++; job < jobs_.size() && !failed_; job = next_++) {
      try {
        written_[job] = write_summary(db, folder_, format_, jobs_[job]);
      } catch (...) {
        errors_[job] = std::current_exception();
        failed_ = true;
      }
    }
  }

  // Once all work is done: what was written, in the order of the jobs.
  std::vector<ExportedFile> result() {
    for (const auto& error : errors_) {
      if (error) std::rethrow_exception(error);
    }
    std::vector<ExportedFile> files;
    for (const auto& some : written_) files.insert(files.end(), some.begin(), some.end());
    return files;
  }

 private:
  const std::vector<SummaryJob>& jobs_;
  fs::path folder_;
  SummaryFormat format_;
  std::vector<std::vector<ExportedFile>> written_;
  std::vector<std::exception_ptr> errors_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
};

}  // namespace

std::vector<ExportedFile> export_timelines(const TraceDb& store, const fs::path& folder) {
  std::vector<ExportedFile> files;
  FileNames names(".json");
  for (const auto& layer : timeline_layers(store.database())) {
    for (const Document& document : layer->documents(store.database())) {
      if (files.empty()) make_folder(folder);
      AtomicFile file(folder / names.next(document.stem));
      TraceJsonWriter writer(file);
      layer->write(store.database(), document, writer);
      writer.finish();
      files.push_back({file.target(), file.bytes_written()});
      file.commit();
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
  const Tables tables = tables_named(summary_tables(store.database()), names);
  const auto jobs = summary_jobs(store.database(), tables, format);
  if (jobs.empty()) return {};
  make_folder(folder);
  SummaryWorkers workers(jobs, folder, format);
  // A connection serves one thread.
  const auto second = jobs.size() > 1 ? TraceDb::open(store.path()) : std::nullopt;
  std::thread helper;
  if (second) helper = std::thread([&] { workers.work(second->database()); });
  workers.work(store.database());
  if (helper.joinable()) helper.join();
  return workers.result();
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
