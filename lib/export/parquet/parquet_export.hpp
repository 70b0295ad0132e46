// Exports the tasks, calls, collectives and operators of a capture as Parquet files, for SQL across
// many ranks: DIR/tasks/rank=00017/<capture>.parquet, DIR/calls/…, DIR/collectives/…, DIR/ops/….
// For `msprof export parquet` and for commands on many captures. docs/parquet.md lists the columns.
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
  std::optional<std::int64_t> rank{};    // empty: from the store
  std::uint64_t group_rows = 1'000'000;  // rows per row group
  std::size_t page_rows = 32'768;
  int zstd_level = 3;
};

// Returns the rank recorded in the store; -1 if unknown.
std::int64_t store_rank(const TraceDb& store);

// Writes the four files, even those without rows, into `dir`. Replaces the files of an earlier
// export of `capture_name` with this rank or without one (rank=-1). All appear once all are
// complete. If the capture has no rows for any of them, writes nothing and returns an empty list.
// Throws Error(cannot_write).
std::vector<ExportedFile> export_parquet(const TraceDb& store, const std::filesystem::path& dir,
                                         std::string_view capture_name,
                                         const ParquetOptions& options = {});

}  // namespace msprof
