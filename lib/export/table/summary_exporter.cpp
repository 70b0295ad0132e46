// Exports tables: plans the files of the current style, and writes the files of every style.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "export/exporter.hpp"
#include "export/old/columns.hpp"
#include "export/products.hpp"
#include "export/scope/export_style.hpp"
#include "export/table/summary_file.hpp"
#include "export/table/table_chunks.hpp"
#include "export/table/table_writers.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kRowsPerSlice = 1'000'000;

fs::path slice_path(const fs::path& folder, const SummaryFile& file, std::size_t slice) {
  return folder / limited_file_name(slice_stem(file.output_file, slice), ".csv");
}

// A file without rows is written if the whole capture has none, but not if the scope excludes them.
bool is_written(const SummaryFile& file, bool has_rows) {
  return has_rows || file.output_file.scope.is_everything();
}

std::vector<ExportedFile> publish(ProductFolder& folder, const SummaryFile& summary,
                                  std::vector<std::unique_ptr<AtomicFile>> files) {
  std::vector<ExportedFile> written;
  written.reserve(files.size());
  for (const auto& file : files) written.push_back({file->target(), file->bytes_written()});
  folder.publish(summary.output_file.product, std::move(files));
  return written;
}

// Passes on rows to a writer and a listener.
class ListenedRows : public RowSink {
 public:
  ListenedRows(RowSink& writer, RowSink& listener) : writer_(writer), listener_(listener) {}

  void begin(std::span<const std::string>) override {}
  void row(std::span<const Cell> cells) override {
    writer_.row(cells);
    listener_.row(cells);
  }
  std::unique_ptr<RowBlock> make_block() override {
    return std::make_unique<Block>(writer_.make_block(), listener_.make_block());
  }

 private:
  class Block : public RowBlock {
   public:
    Block(std::unique_ptr<RowBlock> written, std::unique_ptr<RowBlock> heard)
        : written_(std::move(written)), heard_(std::move(heard)) {}
    void add(std::span<const Cell> cells) override {
      written_->add(cells);
      heard_->add(cells);
    }
    std::size_t bytes() const override { return written_->bytes() + heard_->bytes(); }
    void flush() override {
      written_->flush();
      heard_->flush();
    }

   private:
    std::unique_ptr<RowBlock> written_;
    std::unique_ptr<RowBlock> heard_;
  };

  RowSink& writer_;
  RowSink& listener_;
};

void write_rows(const Database& db, const SummaryFile& summary,
                const std::vector<std::string>& columns, RowSink& out) {
  std::vector<std::string> titles = columns;
  if (summary.has_cann8_names) {
    for (std::string& title : titles) title = old::cann8_column(title);
  }
  out.begin(titles);
  const auto listener = summary.listener ? summary.listener->listen(db) : nullptr;
  if (listener) {
    listener->begin(columns);  // listeners expect current names
    ListenedRows both(out, *listener);
    write_table(db, *summary.table, summary.output_file, both);
    listener->end();
  } else {
    write_table(db, *summary.table, summary.output_file, out);
  }
  out.end();
}

std::vector<ExportedFile> write_csv(const Database& db, ProductFolder& product_folder,
                                    SummaryFormat format, const SummaryFile& summary) {
  const fs::path& folder = product_folder.make();
  std::vector<std::unique_ptr<AtomicFile>> files;
  files.push_back(std::make_unique<AtomicFile>(folder / summary.file_name));
  CsvWriter out(*files.front());
  if (format == SummaryFormat::csv_for_excel) out.write_for_excel();
  if (summary.output_file.slice_at > 0) {
    out.slice(kRowsPerSlice, [&]() -> AtomicFile& {
      if (files.size() == 1) files.front()->retarget(slice_path(folder, summary, 0));
      files.push_back(std::make_unique<AtomicFile>(slice_path(folder, summary, files.size())));
      return *files.back();
    });
  }
  write_rows(db, summary, summary.table->columns(db), out);
  if (!is_written(summary, out.has_rows())) return {};
  return publish(product_folder, summary, std::move(files));
}

std::vector<ExportedFile> write_json(const Database& db, ProductFolder& folder,
                                     const SummaryFile& summary) {
  std::vector<std::unique_ptr<AtomicFile>> files;
  files.push_back(std::make_unique<AtomicFile>(folder.make() / summary.file_name));
  JsonTableWriter out(*files.front());
  write_rows(db, summary, summary.table->columns(db), out);
  if (!is_written(summary, out.has_rows())) return {};
  return publish(folder, summary, std::move(files));
}

SummaryTables summary_tables_of_all_styles() {
  SummaryTables tables = all_summary_tables();
  for (auto& table : cann5_tables("all")) tables.push_back(std::move(table));
  return tables;
}

}  // namespace

SummaryTables tables_named(SummaryTables tables, const std::vector<std::string>& names) {
  std::erase_if(tables, [](const auto& table) { return !table->is_exported(); });
  if (names.empty()) {
    std::erase_if(tables, [](const auto& table) { return !table->info().is_default; });
    return tables;
  }
  std::vector<std::string_view> valid;
  for (const auto& table : tables) {
    if (std::find(valid.begin(), valid.end(), table->name()) == valid.end()) {
      valid.push_back(table->name());
    }
  }
  for (const std::string& name : names) {
    if (std::find(valid.begin(), valid.end(), name) == valid.end()) {
      throw Error(
          Exit::usage,
          fmt::format("unknown summary '{}'; valid: {}{}", name, fmt::join(valid, ", "),
                      did_you_mean(name, std::vector<std::string>(valid.begin(), valid.end()))));
    }
  }
  std::erase_if(tables, [&](const auto& table) {
    return std::find(names.begin(), names.end(), table->name()) == names.end();
  });
  return tables;
}

std::vector<ExportedFile> write_summary(const Database& db, ProductFolder& folder,
                                        SummaryFormat format, const SummaryFile& file) {
  return format == SummaryFormat::json ? write_json(db, folder, file)
                                       : write_csv(db, folder, format, file);
}

std::string ledger_kind(SummaryFormat format) {
  return format == SummaryFormat::json ? "json" : "csv";
}

bool is_summary_name(const std::string& name) {
  const auto tables = summary_tables_of_all_styles();
  return std::any_of(tables.begin(), tables.end(), [&](const auto& table) {
    return table->is_exported() && table->name() == name;
  });
}

void check_summary_names(const std::vector<std::string>& names) {
  tables_named(summary_tables_of_all_styles(), names);
}

std::vector<ExportJob> plan_summaries(const TraceDb& store, const fs::path& base,
                                      const SummaryOptions& options) {
  const Database& db = store.database();
  check_style(db, options.scope, options.style);
  if (style_for(db, options.style) == ExportStyle::cann5)
    return plan_cann5_summaries(store, base, options);
  const auto tables =
      std::make_shared<const SummaryTables>(tables_named(summary_tables(db), options.names));
  const bool is_all = options.names.empty() && options.scope.devices.empty();
  const auto folder = std::make_shared<ProductFolder>(product_folder(base, summary_folder(db)),
                                                      ledger_kind(options.format), is_all);
  ExportScope scope = options.scope;
  find_candidates(db, scope);
  std::vector<ExportJob> jobs;
  FileNames file_names(options.format == SummaryFormat::json ? kJsonTableExtension : ".csv");
  for (const auto& table : *tables) {
    auto output_files = table->output_files(db);
    std::erase_if(output_files, [&](const auto& file) { return !is_of_scope(db, file, scope); });
    const bool is_heard =
        options.listener && options.listener->table == table->name() && output_files.size() == 1;
    if (is_heard) options.listener->is_heard = true;
    for (OutputFile& output_file : output_files) {
      output_file.scope = scope;
      name_scope(output_file);
      folder->claim(output_file.product);
      std::string name = file_names.next(output_file.stem);
      SummaryFile summary{table.get(), std::move(output_file), std::move(name),
                          is_heard ? options.listener : nullptr,
                          options.style == ExportStyle::cann8};
      jobs.push_back({[tables, folder, format = options.format,
                       file = std::move(summary)](const Database& connection) {
                        auto written = write_summary(connection, *folder, format, file);
                        if (written.empty())
                          log::info("{}: no rows match the options; no file written",
                                    file.table->name());
                        return written;
                      },
                      folder});
    }
  }
  return jobs;
}

}  // namespace msprof
