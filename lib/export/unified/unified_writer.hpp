// UnifiedWriter: writes the unified database msprof_<time>.db: its tables, its string ids, and what
// all tables need from the store. Source: cann_host.md 2.6, cann_device.md 25. To add a table,
// define a unified::Table and a function in a new file, and add the function to unified_db.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/bulk_tables.hpp"
#include "store/database.hpp"
#include "store/schema.hpp"

namespace msprof::unified {

// TaskIds: assigns the ids of tasks in the unified database ("globalTaskId"). Tasks of a graph that
// runs again have the same device, stream, number, context and batch, and share an id: that of the
// first one queried (cann_host.md 2.6). A bit table of at most four bytes per task recognizes most
// unique keys; only the others are stored.

// Context: -1 if missing.
struct TaskKey {
  std::int64_t device = 0;
  std::int64_t stream = 0;
  std::int64_t number = 0;
  std::int64_t batch = 0;
  std::int64_t context = -1;
  bool operator==(const TaskKey&) const = default;
};

TaskKey task_key(const TaskRow& task);
// The columns of `task` that form a key, for a query; `first_cell` is the index of the first.
inline constexpr std::string_view kTaskKeyColumns =
    "task.device_id, task.stream_id, task.task_number, task.batch, task.context";
TaskKey task_key(const Statement& row, int first_cell);

class UnifiedTaskIds {
 public:
  explicit UnifiedTaskIds(const Database& store);

  std::int64_t find(std::int64_t task_id, const TaskKey& key);
  // Returns true once per id: data that the tasks of a key share is written for one of them.
  bool describe(std::int64_t task_id, const TaskKey& key);
  // Returns an id for an item that is a task only in the unified database; `number` is 0, 1, …
  std::int64_t extra(std::int64_t number) const;

 private:
  struct TaskKeyHash {
    std::size_t operator()(const TaskKey& key) const;
  };
  struct Shared {
    std::int64_t first_id = 0;
    bool is_described = false;
  };
  void find_repeated(const Database& store);
  bool may_repeat(const TaskKey& key) const;

  std::int64_t largest_id_ = 0;
  std::size_t mask_ = 0;
  std::vector<bool> repeated_;  // by hash: seen more than once
  std::unordered_map<TaskKey, Shared, TaskKeyHash> shared_;
};

struct UnifiedTable {
  std::string_view name;
  // SQL declarations joined by ", "; "name STRING" is an INTEGER that holds a string id, "name
  // STRING NUMERIC" a NUMERIC.
  std::string_view columns;
  std::string_view index = {};  // SQL, run after all rows are written
  std::uint32_t real_columns = 0;
};

// Value of cells that have no value.
inline constexpr std::int64_t kNoValue = -1;

// Returns the "connectionId" of a mark that devices repeat (cann_host.md 2.6); greater than those
// of calls and plain ranges.
std::int64_t mark_connection(std::int64_t mark_id);

// Returns the bits of a double as a cell. Never equal to kNull, whose bits are those of -0.0.
std::int64_t real_cell(double value);

class UnifiedWriter {
 public:
  UnifiedWriter(const Database& store, Database& target, bool has_cann8_names = false);

  const Database& store() const { return store_; }
  // Start of the collection. Tasks that end before it, and all other records that start before it,
  // are left out (cann_host.md 2.6, cann_device.md 14.5).
  std::int64_t begin_ns() const { return begin_ns_; }
  std::int64_t process_id() const { return process_id_; }
  // Returns true if columns have the names of CANN 8.0 to 8.5.
  bool has_cann8_names() const { return has_cann8_names_; }
  std::int64_t thread(std::int64_t thread_id) const;  // "globalTid"
  UnifiedTaskIds& task_ids() { return task_ids_; }

  // Returns the string id of a row of `name`; that of "N/A" if empty. Throws for an unknown id.
  std::int64_t name(std::optional<std::int64_t> name_id) const;
  // Returns the string id of any other text; equal texts have equal ids.
  std::int64_t text(std::string_view text);
  // Looks up all `texts` in `name` with one query. Call before text() is called for them.
  void find_texts(std::span<const std::string> texts);

  // Pauses the bulk writer and returns the database. For the few tables with texts in their cells,
  // which are written with SQL statements.
  Database& target();

  // Creates a table and returns its number. Rows calls it for the first row.
  struct Made {
    std::size_t number = 0;
    std::vector<std::size_t> string_columns;
  };
  Made create(const UnifiedTable& table);
  std::int64_t* add_row(std::size_t table) { return tables_.add_row(table); }
  // Marks a string as used by a row; only used strings are written.
  void use(std::int64_t string_id) {
    const auto id = static_cast<std::size_t>(string_id);
    if (id >= used_.size()) used_.resize(id + 1);
    used_[id] = true;
  }
  // Writes everything that is left, including indexes.
  void finish();

 private:
  void count_names();
  void write_strings();

  const Database& store_;
  Database& target_;
  BulkTables tables_;
  UnifiedTaskIds task_ids_;
  std::int64_t begin_ns_ = INT64_MIN;
  std::int64_t process_id_ = 0;
  bool has_cann8_names_;
  std::int64_t names_ = 0;  // the ids of `name` are 1 to names_
  std::int64_t next_text_id_ = 1;
  std::map<std::string, std::int64_t, std::less<>> texts_;
  std::int64_t missing_ = 0;  // id of "N/A"
  std::vector<bool> used_;    // by string id
  std::vector<std::string> indexes_;
};

// Writes the rows of one table. A table without rows is not created.
class UnifiedRows {
 public:
  UnifiedRows(UnifiedWriter& writer, const UnifiedTable& table)
      : writer_(&writer), table_(&table) {}

  void add(std::initializer_list<std::int64_t> cells) {
    if (made_.number == kNotMade) made_ = writer_->create(*table_);
    std::int64_t* row = writer_->add_row(made_.number);
    for (const std::int64_t cell : cells) *row++ = cell;
    for (const std::size_t column : made_.string_columns) writer_->use(cells.begin()[column]);
  }

 private:
  UnifiedWriter* writer_;
  const UnifiedTable* table_;
  static constexpr std::size_t kNotMade = SIZE_MAX;
  UnifiedWriter::Made made_{kNotMade, {}};
};

// CANN_API.type of a level that has a name but is not in ENUM_API_TYPE.
inline constexpr std::int64_t kOtherApiType = 65535;

void write_enums(UnifiedWriter& out);
// Writes ENUM_API_TYPE: the published types, and those of `used` that are not among them.
void write_api_types(UnifiedWriter& out, const std::set<std::int64_t>& used);
void write_session(UnifiedWriter& out);
void write_calls(UnifiedWriter& out);
void write_user_ranges(UnifiedWriter& out);
void write_tasks(UnifiedWriter& out);
void write_copies(UnifiedWriter& out);
void write_communication(UnifiedWriter& out);
void write_memory(UnifiedWriter& out);
void write_frequency(UnifiedWriter& out);
void write_overlap(UnifiedWriter& out);
void write_hbm(UnifiedWriter& out);
void write_hccs(UnifiedWriter& out);
void write_memory_counters(UnifiedWriter& out);
void write_nic(UnifiedWriter& out);
void write_roce(UnifiedWriter& out);
void write_netdev_stats(UnifiedWriter& out);
void write_host_usage(UnifiedWriter& out);
void write_acc_pmu(UnifiedWriter& out);
void write_soc_bandwidth(UnifiedWriter& out);
void write_sio(UnifiedWriter& out);
void write_qos(UnifiedWriter& out);
void write_core_samples(UnifiedWriter& out);
void write_ccu(UnifiedWriter& out);
void write_dpu_tasks(UnifiedWriter& out);

}  // namespace msprof::unified
