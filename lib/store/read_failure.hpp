// What a failed read of a database says about the file. For Database and TraceDb.
#pragma once

#include <sqlite3.h>

namespace msprof {

// True for an extended error code of SQLite about the disk, a permission or memory: the file may be
// whole. False for a file that is cut.
inline bool says_nothing_of_content(int extended_code) {
  const int code = extended_code & 0xff;
  const bool is_cut = extended_code == SQLITE_IOERR_SHORT_READ;
  return (code == SQLITE_IOERR && !is_cut) || code == SQLITE_CANTOPEN || code == SQLITE_PERM ||
         code == SQLITE_NOMEM;
}

}  // namespace msprof
