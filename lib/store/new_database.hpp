// Replacing a database by a new one, for the store and for databases that are products. Files of
// another program next to the old one (-wal, -shm or -journal) would be applied to the new one when
// it is opened, and corrupt it. They are deleted with the old database; while a program holds it
// open, nothing is replaced.
#pragma once

#include <filesystem>

#include "base/atomic_file.hpp"

namespace msprof {

// Throws Error(database_in_use) if another program has `target` open and there are journal files
// next to it. Also called before the work, which can take minutes.
void check_replaceable(const std::filesystem::path& target);

// Returns the new, empty database file; its rename() replaces `target`, after the same check.
TemporaryFile new_database_file(const std::filesystem::path& target);

}  // namespace msprof
