// The floor of import and export: what has to be done at least, with our own pages, in the same
// run.
#pragma once

#include <cstdint>
#include <filesystem>

namespace msprof::bench {

// Seconds that an insert of 5 M rows of ten integers takes: one prepared statement, one
// transaction, a table without indexes, no journal, no syncs. It says how fast a machine is.
double insert_seconds(const std::filesystem::path& database);

// Seconds of reading every file in `folder` and below it once.
double read_once_seconds(const std::filesystem::path& folder);

// Seconds of decoding all cells of the tables of integers of a finished store from their pages.
double read_pages_seconds(const std::filesystem::path& store);

// Seconds of making the tables of `store` again in `copy`: pages for tables of integers and of
// texts with an id, SQLite for all others. Reading the rows is not counted. Removes `copy`.
double make_pages_seconds(const std::filesystem::path& store, const std::filesystem::path& copy);

}  // namespace msprof::bench
