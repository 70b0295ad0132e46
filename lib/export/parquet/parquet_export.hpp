// The tasks, calls, collectives and operators of a capture as Parquet files, for SQL over many
// ranks: DIR/tasks/rank=00017/<capture>.parquet, DIR/calls/…, DIR/collectives/…, DIR/ops/…. For
// `msprof export parquet` and for commands on many captures. docs/cluster.md has the columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "export/exporter.hpp"
#include "store/trace_db.hpp"

namespace msprof {

struct ParquetOptions {
  std::optional<std::int64_t> rank{};    // empty: what the store says
  std::uint64_t group_rows = 1'000'000;  // of a row group
  std::size_t page_rows = 32'768;
  int zstd_level = 3;
};

// Rank that the store of a capture says; -1 where it says none.
std::int64_t store_rank(const TraceDb& store);

// Writes the four files into `dir`, each also where it has no row, in place of those of an earlier
// export of the capture `capture_name` with this rank, or with none (rank=-1). All appear when all
// are whole. None, and nothing is changed, where the capture has no row for any. Throws
// Error(cannot_write).
std::vector<ExportedFile> export_parquet(const TraceDb& store, const std::filesystem::path& dir,
                                         std::string_view capture_name,
                                         const ParquetOptions& options = {});

}  // namespace msprof
