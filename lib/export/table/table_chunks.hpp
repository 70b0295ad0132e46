// Passes the rows of tables to sinks. For everything that reads whole tables.
#pragma once

#include "base/row_sink.hpp"
#include "export/summary_table.hpp"

namespace msprof {

// Passes the rows of a file of `table` to `sink`, which has begun. Makes the chunks of a large
// table on several threads and passes on their rows in order; calls row() on any thread, one at a
// time.
void write_table(const Database& db, const SummaryTable& table, const OutputFile& output_file,
                 RowSink& sink);

}  // namespace msprof
