// What import and export of PROF folders are measured against, in the same run.
#pragma once

#include <cstdint>
#include <filesystem>

namespace msprof::bench {

// Rows of all tables of a store.
std::uint64_t rows_in(const std::filesystem::path& store);

// Seconds of a bare insert of all rows of `store` into `copy`: the same tables without indexes, one
// prepared INSERT a table, one transaction, no journal, no syncs. Reading the rows is not counted.
double bare_copy_seconds(const std::filesystem::path& store, const std::filesystem::path& copy);

// Seconds of a bare write of as many bytes as the files of `folder` have into one file.
double bare_write_of(const std::filesystem::path& folder, const std::filesystem::path& file);

}  // namespace msprof::bench
