#include "export/parquet/parquet_tables.hpp"

#include <memory>
#include <string>

#include "base/text.hpp"
#include "store/cells.hpp"

namespace msprof::parquet {

namespace {

constexpr Values kAscending = Values::ascending;
constexpr Values kRepeated = Values::repeated;
constexpr Cells kNames = Cells::names;
// Row numbers are only unique within a capture, and a rank may have several.
const TableColumn kCaptureColumn = {"capture", Values::repeated, Cells::capture};

ParquetTable tasks_table() {
  return {"tasks",
          {kCaptureColumn,
           {"task_id", kAscending, {}, true},
           {"device_id", kRepeated},
           {"model_id", kRepeated},
           {"step", kRepeated},
           {"execution", kRepeated},
           {"stream_id", kRepeated},
           {"task_number"},
           {"op_id", kRepeated},
           {"op_name", kRepeated, kNames},
           {"op_type", kRepeated, kNames},
           {"task_type", kRepeated, kNames},
           {"start_ns", kAscending},
           {"duration_ns"},
           {"call_id", kAscending},
           {"collective_id", kAscending},
           {"kernel", kRepeated, kNames}}};
}

ParquetTable calls_table() {
  return {"calls",
          {kCaptureColumn,
           {"call_id", kAscending, {}, true},
           {"process_id", kRepeated},
           {"thread_id", kRepeated},
           {"level", kRepeated, Cells::levels},
           {"type", kRepeated, kNames},
           {"name", kRepeated, kNames},
           {"item", kRepeated, kNames},
           {"start_ns", kAscending},
           {"duration_ns"}}};
}

ParquetTable collectives_table() {
  return {"collectives",
          {kCaptureColumn,
           {"collective_id", kAscending, {}, true},
           {"device_id", kRepeated},
           {"model_id", kRepeated},
           {"step", kRepeated},
           {"name", kRepeated, kNames},
           {"type", kRepeated, kNames},
           {"group_name", kRepeated, kNames},
           {"sequence", kAscending},
           {"rank_count", kRepeated},
           {"algorithm", kRepeated, kNames},
           {"data_type", kRepeated},
           {"element_count"},
           {"start_ns", kAscending},
           {"end_ns", kAscending},
           {"duration_ns"}}};
}

ParquetTable ops_table() {
  return {"ops",
          {kCaptureColumn,
           {"op_id", kAscending, {}, true},
           {"model_id", kRepeated},
           {"model", kRepeated, kNames},
           {"position"},
           {"layer_id"},
           {"name", kRepeated, kNames},
           {"original_names", kRepeated, kNames},
           {"type", kRepeated, kNames},
           {"unit", kRepeated, kNames},
           {"input_shapes", kRepeated, kNames},
           {"output_shapes", kRepeated, kNames},
           {"input_types", kRepeated, kNames},
           {"block_num", kRepeated},
           {"count"},
           {"total_ns"},
           {"min_ns"},
           {"max_ns"}}};
}

TextLookup name_lookup(const Database& db) {
  const auto read = std::make_shared<Statement>(db.prepare("SELECT text FROM name WHERE id = ?"));
  return [read](std::int64_t id, std::string& text) {
    read->bind(1, id);
    const bool is_there = read->step() && !read->is_null(0);
    if (is_there) text = valid_utf8(read->text(0));
    read->reset();
    return is_there;
  };
}

bool level_text(std::int64_t level, std::string& text) {
  for (const auto& known : call_level::kNames) {
    if (known.level != level) continue;
    text = known.text;
    return true;
  }
  text = std::to_string(level);
  return true;
}

}  // namespace

const std::vector<ParquetTable>& tables() {
  static const std::vector<ParquetTable> all = {tasks_table(), calls_table(), collectives_table(),
                                                ops_table()};
  return all;
}

std::vector<ColumnSpec> make_columns(const ParquetTable& table, const Database& db,
                                     const std::string& capture) {
  std::vector<ColumnSpec> columns;
  columns.reserve(table.columns.size());
  for (const TableColumn& column : table.columns) {
    ColumnSpec spec{std::string(column.name), column.values, column.is_required, {}};
    if (column.cells == Cells::names) spec.find_text = name_lookup(db);
    if (column.cells == Cells::levels) spec.find_text = level_text;
    if (column.cells == Cells::capture) {
      spec.find_text = [capture](std::int64_t, std::string& text) {
        text = capture;
        return true;
      };
    }
    columns.push_back(std::move(spec));
  }
  return columns;
}

}  // namespace msprof::parquet
