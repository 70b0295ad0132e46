// ExportStyle: the names and arrangement of the files of an export, including what depends on the
// dialect and the version of the capture.
#pragma once

#include <string>

#include "export/scope/export_scope.hpp"
#include "store/database.hpp"

namespace msprof {

// Names and arrangement of files.
enum class ExportStyle {
  of_capture,  // style of the capture's version: cann5 for CANN 5 and older, else current
  current,
  cann5,  // a file per topic and device, in device_N/timeline and device_N/summary
  cann8,  // current, with names of CANN 8.0 to 8.5: Block Dim, blockDim
};

// Returns true for captures of Atlas machines, of any version.
bool is_of_atlas(const Database& db);
// Returns meta "generation"; empty for current captures.
std::string read_generation(const Database& db);

// Returns true for a capture of CANN 5 or older, whose default style is that of its version.
bool is_old_capture(const Database& db);
// Resolves of_capture to the style of the capture; returns every other style unchanged.
ExportStyle style_for(const Database& db, ExportStyle style);

// Throws Error(usage) if `scope` or `style` is only valid for the other dialect.
void check_style(const Database& db, const ExportScope& scope, ExportStyle style);

// Return the folder within a capture for tables, or timelines, named as users of its dialect
// expect.
std::string summary_folder(const Database& db);
std::string timeline_folder(const Database& db);
// Return true if the dialect has a unified database, or if its timelines are several files that can
// be merged.
bool has_unified_db(const Database& db);
bool has_merged_timeline(const Database& db);

}  // namespace msprof
