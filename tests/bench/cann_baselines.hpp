// Baselines for import and export of PROF folders, measured in the same run.
#pragma once

#include <cstdint>
#include <filesystem>

namespace msprof::bench {

// Number of rows in all tables of a store.
std::uint64_t rows_in(const std::filesystem::path& store);

// Seconds of a bare insert of all rows of `store` into `copy`: the same tables without indexes, one
// prepared INSERT per table, one transaction, no journal, no syncs. Reading the rows is not
// counted.
double bare_copy_seconds(const std::filesystem::path& store, const std::filesystem::path& copy);

// Seconds of a bare write of the total size of the files in `folder` to one file.
double measure_bare_write(const std::filesystem::path& folder, const std::filesystem::path& file);

}  // namespace msprof::bench
