// The summary tables of a capture (op_summary, task_time, …) as tables of SQL, so that what only
// they compute, ratios of the cores for one, can be asked for.
//
// Columns are named as field_name() does it, "task_duration" for "Task Duration(us)", a name that
// comes again gets its number; N/A is NULL; rows of totals are left out. A table of which a capture
// has several, one a step of a model, has all their rows, and the columns `model_id` and `step`.
#pragma once

#include <string_view>

#include "query/sql_tokens.hpp"
#include "store/database.hpp"

namespace msprof {

// Makes temporary tables in `db` of the summary tables of `store` (another connection) that `asked`
// names, with the columns that it names filled; without rows where there is no data.
void fill_product_tables(const Database& store, Database& db, const SqlWords& asked);

}  // namespace msprof
