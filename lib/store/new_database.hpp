// Replaces a database by a new one, for the store and for databases that are products. SQLite would
// apply another program's files next to the old database (-wal, -shm or -journal) to the new one
// and corrupt it. They are deleted with the old database; while a program has it open, nothing is
// replaced.
#pragma once

#include <filesystem>

#include "base/atomic_file.hpp"

namespace msprof {

// Throws Error(database_in_use) if another program has `target` open and there are journal files
// next to it. Also call it before the work that creates the new database, which can take minutes.
void check_replaceable(const std::filesystem::path& target);

// Returns the new, empty database file; its rename() replaces `target`, after the same check.
TemporaryFile new_database_file(const std::filesystem::path& target);

}  // namespace msprof
