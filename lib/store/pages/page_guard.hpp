// The VFS through which SQLite reads databases from elsewhere. It bounds the work of a statement by
// the size of the file, whatever the pages hold, and ends it when an interrupt has been received.
//
// SQLite follows every child pointer that a page names. Six pages that each name the next one 600
// times are 600^6 leaves to it. So each page is looked at when SQLite reads it the first time, and
// SQLITE_CORRUPT is what SQLite gets where
// * a page has two parents, or one that names it twice: in a sound file each page has one place;
// * cells of a page overlap, or rows need more overflow pages than the file has: so few bytes could
//   stand for any number of long rows;
// * the schema has more entries than any of ours.
// Nothing is read for it that SQLite does not read anyway, and nothing when the file is opened.
//
// Temporary files of these connections (sorts, temporary tables) get SQLITE_FULL when they take
// more together than a multiple of the databases that are open.
#pragma once

struct sqlite3;

namespace msprof::pages {

// Its name, for sqlite3_open_v2().
const char* guarded_vfs();

// For sqlite3_file_control(): gives the sqlite3_file of the system below a guarded one. Any thread
// may read from that one; its pages are not looked at.
inline constexpr int kSystemFileControl = 0x6d737067;

// Ends statements of `db` with SQLITE_INTERRUPT when an interrupt has been received.
void end_on_interrupt(sqlite3* db);

}  // namespace msprof::pages
