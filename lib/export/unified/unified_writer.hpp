// UnifiedWriter: the unified database msprof_<time>.db while it is written: its tables, its string
// ids, and what all tables ask of the store. For the tables, one file a family.
// Source: cann_host.md 2.6, cann_device.md 25.
// To add a table: a UnifiedTable and a function in a file of its own, and the function's name in
// unified_db.cpp.
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

// TaskIds: the ids that the unified database gives to tasks ("globalTaskId"). Tasks of a graph that
// runs again have the same device, stream, number, context and batch, and share an id: that of the
// first of them that is asked for (cann_host.md 2.6).
// Four bytes a task identify most tasks whose key is their own; the others are kept exactly.

// Context: -1 for none.
struct TaskKey {
  std::int64_t device = 0;
  std::int64_t stream = 0;
  std::int64_t number = 0;
  std::int64_t batch = 0;
  std::int64_t context = -1;
  bool operator==(const TaskKey&) const = default;
};

TaskKey task_key(const TaskRow& task);
// The columns of `task` that make a key, in a query; `first_cell` is where they begin.
inline constexpr std::string_view kTaskKeyColumns =
    "task.device_id, task.stream_id, task.task_number, task.batch, task.context";
TaskKey task_key(const Statement& row, int first_cell);

class TaskIds {
 public:
  explicit TaskIds(const Database& store);

  std::int64_t of(std::int64_t task_id, const TaskKey& key);
  // True once for each id: what the tasks of a key have in common is written for one of them.
  bool describe(std::int64_t task_id, const TaskKey& key);
  // Of what is a task only for the unified database; 0, 1, …
  std::int64_t extra(std::int64_t number) const;

 private:
  struct KeyHash {
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
  std::unordered_map<TaskKey, Shared, KeyHash> shared_;
};

struct Table {
  std::string_view name;
  // As SQL declares them, joined by ", "; "name STRING" is an INTEGER that holds a string id,
  // "name STRING NUMERIC" a NUMERIC.
  std::string_view columns;
  std::string_view index = {};  // SQL, run when all rows are there
  std::uint32_t real_columns = 0;
};

// Cells without a value of their own.
inline constexpr std::int64_t kNone = -1;

// "connectionId" of a mark that devices repeat (cann_host.md 2.6): beyond those of calls and plain
// ranges.
std::int64_t mark_connection(std::int64_t mark_id);

// The bits of a double as a cell. Never those of kNull, which are -0.0.
std::int64_t real_cell(double value);

class Writer {
 public:
  Writer(const Database& store, Database& target, bool has_cann8_names = false);

  const Database& store() const { return store_; }
  // Begin of the collection: tasks that ended, and all else that began, before it are left out
  // (cann_host.md 2.6, cann_device.md 14.5).
  std::int64_t begin_ns() const { return begin_ns_; }
  std::int64_t process_id() const { return process_id_; }
  // True for tables as CANN 8.0 to 8.5 named their columns.
  bool has_cann8_names() const { return has_cann8_names_; }
  std::int64_t thread(std::int64_t thread_id) const;  // "globalTid"
  TaskIds& task_ids() { return task_ids_; }

  // The string id of a row of `name`; throws for one that is not there. Null is "N/A".
  std::int64_t name(std::optional<std::int64_t> name_id) const;
  // The string id of another text; the same text has the same.
  std::int64_t text(std::string_view text);
  // Searches once for those that `name` has already; before text() is called for them.
  void find_texts(std::span<const std::string> texts);

  // For the few rows that have texts in their cells: a statement without the queue.
  Database& target();

  // Numbers a table and makes it; Rows does so for the first row.
  struct Made {
    std::size_t number = 0;
    std::vector<std::size_t> string_columns;
  };
  Made create(const Table& table);
  std::int64_t* add_row(std::size_t table) { return tables_.add_row(table); }
  // Marks that a row refers to that string: only such are written.
  void use(std::int64_t string_id) {
    const auto id = static_cast<std::size_t>(string_id);
    if (id >= used_.size()) used_.resize(id + 1);
    used_[id] = true;
  }
  // Everything written, indexes included.
  void finish();

 private:
  void count_names();
  void write_strings();

  const Database& store_;
  Database& target_;
  BulkTables tables_;
  TaskIds task_ids_;
  std::int64_t begin_ns_ = INT64_MIN;
  std::int64_t process_id_ = 0;
  bool has_cann8_names_;
  std::int64_t names_ = 0;  // name has the ids 1 to names_
  std::int64_t next_text_id_ = 1;
  std::map<std::string, std::int64_t, std::less<>> texts_;
  std::int64_t missing_ = 0;  // "N/A"
  std::vector<bool> used_;    // by string id
  std::vector<std::string> indexes_;
};

// The rows of one table; without any there is no table.
class Rows {
 public:
  Rows(Writer& writer, const Table& table) : writer_(&writer), table_(&table) {}

  void add(std::initializer_list<std::int64_t> cells) {
    if (made_.number == kNotMade) made_ = writer_->create(*table_);
    std::int64_t* row = writer_->add_row(made_.number);
    for (const std::int64_t cell : cells) *row++ = cell;
    for (const std::size_t column : made_.string_columns) writer_->use(cells.begin()[column]);
  }

 private:
  Writer* writer_;
  const Table* table_;
  static constexpr std::size_t kNotMade = SIZE_MAX;
  Writer::Made made_{kNotMade, {}};
};

// CANN_API.type of a level with a name that is none of ENUM_API_TYPE.
inline constexpr std::int64_t kOtherApiType = 65535;

// The tables, by family.
void write_enums(Writer& out);
// ENUM_API_TYPE: the published types, and those of `used` that are none of them.
void write_api_types(Writer& out, const std::set<std::int64_t>& used);
void write_session(Writer& out);
void write_calls(Writer& out);
void write_user_ranges(Writer& out);
void write_tasks(Writer& out);
void write_copies(Writer& out);
void write_communication(Writer& out);
void write_memory(Writer& out);
void write_frequency(Writer& out);
void write_overlap(Writer& out);
void write_hbm(Writer& out);
void write_hccs(Writer& out);
void write_memory_counters(Writer& out);
void write_nic(Writer& out);
void write_roce(Writer& out);
void write_netdev_stats(Writer& out);
void write_host_usage(Writer& out);
void write_acc_pmu(Writer& out);
void write_soc_bandwidth(Writer& out);
void write_sio(Writer& out);
void write_qos(Writer& out);
void write_core_samples(Writer& out);
void write_ccu(Writer& out);
void write_dpu_tasks(Writer& out);

}  // namespace msprof::unified
