#include "export/parquet/parquet_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <system_error>

#include "base/atomic_file.hpp"
#include "base/folder_listing.hpp"
#include "base/text.hpp"
#include "export/exporter.hpp"
#include "export/parquet/file_writer.hpp"
#include "export/parquet/parquet_tables.hpp"
#include "export/product_folder.hpp"
#include "store/layout_origin.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kNoRank = -1;

// Uses five digits, so that folders are listed in order.
std::string rank_folder(std::int64_t rank) {
  return rank < 0 ? "rank=-1" : fmt::format("rank={:05}", rank);
}

// Returns a name that stays within the folder and that readers' glob patterns do not skip.
std::string parquet_file_name(std::string_view capture_name) {
  std::string stem = file_name_part(valid_utf8(capture_name));
  if (stem.empty() || stem.front() == '.' || stem.front() == '_') stem.insert(0, "capture");
  return limited_file_name(stem, ".parquet");
}

bool has_parquet_rows(const Database& db) {
  Statement any = db.prepare(
      "SELECT EXISTS(SELECT 1 FROM task) OR EXISTS(SELECT 1 FROM api_call) OR"
      " EXISTS(SELECT 1 FROM comm_op)");
  return any.step() && any.integer(0) != 0;
}

// Removes the capture's files from before its rank was known: they would duplicate its rows.
void remove_rankless(const fs::path& dir, const std::string& name) {
  for (const parquet::ParquetTable& table : parquet::tables()) {
    const fs::path folder = dir / table.name / rank_folder(kNoRank);
    std::error_code error;
    if (fs::is_symlink(fs::symlink_status(folder, error)) || !fs::remove(folder / name, error))
      continue;
    // Fails, as intended, if another capture has files there.
    fs::remove(folder, error);
  }
}

std::vector<std::pair<std::string, std::string>> make_metadata(const TraceDb& store,
                                                               const parquet::ParquetTable& table,
                                                               const std::string& capture) {
  return {{"msprof.table", std::string(table.name)},
          {"msprof.table_version", "1"},
          {"msprof.capture", capture},
          {"msprof.dialect", valid_utf8(store.meta("dialect"))},
          {"msprof.verdict", valid_utf8(store.meta("verdict"))},
          {"msprof.layout_origin",
           std::string(layout_origin_name(read_layout_origin(store.database())))}};
}

}  // namespace

std::int64_t store_rank(const TraceDb& store) {
  return std::max(kNoRank, read_meta_integer(store.database(), "host.rank").value_or(kNoRank));
}

std::vector<ExportedFile> export_parquet(const TraceDb& store, const fs::path& dir,
                                         std::string_view capture_name,
                                         const ParquetOptions& options) {
  const Database& db = store.database();
  if (!has_parquet_rows(db)) return {};
  const std::int64_t rank = options.rank.value_or(store_rank(store));
  const std::string name = parquet_file_name(capture_name);
  const std::string capture = valid_utf8(capture_name);
  std::vector<std::unique_ptr<parquet::FileWriter>> writers;
  std::vector<parquet::FileWriter*> files;
  for (const parquet::ParquetTable& table : parquet::tables()) {
    const fs::path folder =
        product_folder(product_folder(dir, std::string(table.name)), rank_folder(rank));
    create_output_folder(folder);
    parquet::FileOptions file;
    file.group_rows = options.group_rows;
    file.page_rows = options.page_rows;
    file.zstd_level = options.zstd_level;
    file.metadata = make_metadata(store, table, capture);
    writers.push_back(std::make_unique<parquet::FileWriter>(
        folder / name, parquet::make_columns(table, db, capture), std::move(file)));
    files.push_back(writers.back().get());
  }
  parquet::write_rows(db, files);
  std::vector<ExportedFile> result;
  result.reserve(writers.size());
  for (const auto& file : writers) result.push_back({file->target(), file->finish(), 0});
  std::vector<TemporaryFile> finished;
  finished.reserve(writers.size());
  for (const auto& file : writers) finished.push_back(file->take());
  publish_together(finished);
  if (rank >= 0) remove_rankless(dir, name);
  return result;
}

}  // namespace msprof
