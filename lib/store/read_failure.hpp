// Failed database reads with an external cause. For Database and TraceDb: import rebuilds a damaged
// store, but keeps one that it cannot read.
#pragma once

#include <sqlite3.h>

#include "base/error.hpp"

namespace msprof {

// Thrown if says_nothing_of_content() is true.
class UnreadableDatabase : public Error {
 public:
  using Error::Error;
};

// True if an extended error code of SQLite is about the disk, a permission or memory: the file may
// be intact. False for a truncated file.
inline bool says_nothing_of_content(int extended_code) {
  const int code = extended_code & 0xff;
  const bool is_cut = extended_code == SQLITE_IOERR_SHORT_READ;
  return (code == SQLITE_IOERR && !is_cut) || code == SQLITE_CANTOPEN || code == SQLITE_PERM ||
         code == SQLITE_NOMEM;
}

}  // namespace msprof
