// Names and units of columns in older versions of CANN.
#pragma once

#include <memory>
#include <string_view>

namespace msprof {

class SummaryTable;

namespace old {

// Returns the name that CANN 8.0 to 8.5 use for a current column.
std::string_view cann8_column(std::string_view column);

// Columns of COMPUTE_TASK_INFO in their databases (schema 1.0.0), where blockDim is the number of
// blocks.
inline constexpr std::string_view kCann8ComputeColumns =
    "name STRING, globalTaskId INTEGER PRIMARY KEY, blockDim INTEGER, mixBlockDim INTEGER,"
    " taskType STRING, opType STRING, inputFormats STRING, inputDataTypes STRING,"
    " inputShapes STRING, outputFormats STRING, outputDataTypes STRING, outputShapes STRING,"
    " attrInfo STRING, opState STRING, hf32Eligible STRING";

// Wraps a current table: its columns get the names and units of CANN 5.
std::unique_ptr<SummaryTable> make_cann5_table(std::unique_ptr<SummaryTable> table);

}  // namespace old

}  // namespace msprof
