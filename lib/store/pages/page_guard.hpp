// SQLite VFS for untrusted databases. It bounds the work of a statement by the size of the file,
// whatever the pages hold, and stops statements on an interrupt.
//
// SQLite follows every child pointer of a page. Six pages, each with 600 pointers to the next, look
// like 600^6 leaves. So each page is checked when SQLite first reads it, and SQLite gets
// SQLITE_CORRUPT if
// * a page has two parents, or two pointers in one: in a valid file each page has one pointer;
//   * cells of a page overlap, or rows need more overflow pages than the file has: a few bytes
//     could otherwise represent any number of long rows;
//   * the schema has more entries than any of ours.
// The check reads only pages that SQLite reads anyway, and reads nothing when the file is opened.
//
// Temporary files of these connections (sorts, temporary tables) get SQLITE_FULL once their total
// size exceeds a multiple of the size of the open databases.
#pragma once

struct sqlite3;

namespace msprof::pages {

// Returns the VFS name for sqlite3_open_v2().
const char* guarded_vfs();

// Operation for sqlite3_file_control(): returns the system's sqlite3_file below a guarded one. Any
// thread may read from it; its pages are not checked.
inline constexpr int kSystemFileControl = 0x6d737067;

// Stops statements of `db` with SQLITE_INTERRUPT once an interrupt has been received.
void end_on_interrupt(sqlite3* db);

}  // namespace msprof::pages
