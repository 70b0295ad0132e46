// Failed database reads with an external cause. For Database and TraceDb: import rebuilds a damaged
// store, but keeps one that it cannot read.
#pragma once

#include <sqlite3.h>

#include "base/error.hpp"

namespace msprof {

// Thrown where says_nothing_of_content().
class UnreadableDatabase : public Error {
 public:
  using Error::Error;
};

// True for an extended error code of SQLite about the disk, a permission or memory: the file may be
// whole. False for a file that is cut.
inline bool says_nothing_of_content(int extended_code) {
  const int code = extended_code & 0xff;
  const bool is_cut = extended_code == SQLITE_IOERR_SHORT_READ;
  return (code == SQLITE_IOERR && !is_cut) || code == SQLITE_CANTOPEN || code == SQLITE_PERM ||
         code == SQLITE_NOMEM;
}

}  // namespace msprof
