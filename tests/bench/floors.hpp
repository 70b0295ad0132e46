// Lower bounds for import and export: the minimum work, done with msprof's page code in the same
// run.
#pragma once

#include <cstdint>
#include <filesystem>

namespace msprof::bench {

// Seconds to insert 5 M rows of ten integers: one prepared statement, one transaction, a table
// without indexes, no journal, no syncs. A measure of the machine's speed.
double insert_seconds(const std::filesystem::path& database);

// Seconds of reading every file below `folder` once.
double read_once_seconds(const std::filesystem::path& folder);

// Seconds of decoding all cells of the integer tables of a finished store from their pages.
double read_pages_seconds(const std::filesystem::path& store);

// Seconds of rebuilding the tables of `store` in `copy`: by page code for integer tables and for
// texts with an id, by SQLite for other tables. Reading the rows is not counted. Removes `copy`.
double make_pages_seconds(const std::filesystem::path& store, const std::filesystem::path& copy);

}  // namespace msprof::bench
