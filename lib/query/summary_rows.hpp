// The rows of summary tables (op_summary, task_time, …) with the columns and values that SQL has.
//
// Columns are named by field_name(): "task_duration" for "Task Duration(us)". Repeated names get a
// number. N/A becomes NULL; rows with totals are omitted. A table with several files in a capture,
// such as one per model step, gets the rows of all files and the columns `model_id` and `step`.
#pragma once

#include <string>
#include <vector>

#include "base/row_sink.hpp"
#include "export/summary_table.hpp"

namespace msprof {

// Returns the names of the columns that are not `model_id` or `step`.
std::vector<std::string> summary_fields(const Database& store, const SummaryTable& table);
// Returns true if the rows have the columns `model_id` and `step`, after the others.
bool has_summary_places(const Database& store, const SummaryTable& table);
// Passes all rows to `sink`, which has begun; large tables from several threads, as write_table().
void write_summary_rows(const Database& store, const SummaryTable& table, RowSink& sink);

}  // namespace msprof
