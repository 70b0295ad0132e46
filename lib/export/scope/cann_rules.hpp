// Rules for rows of CANN captures shared by tables and timelines: which calls count, which type a
// task shows, what codes mean. Source: cann_host.md 2.1, 2.6; cann_device.md 14.3, 14.5.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/recent_map.hpp"
#include "export/scope/export_scope.hpp"
#include "store/database.hpp"
#include "store/row_cursor.hpp"
#include "store/schema.hpp"

namespace msprof::cann {

// Device number of the host in products where devices are only numbers.
inline constexpr std::int64_t kHostDevice = 31;

// Returns "acl", "node", …; empty for a level without a name.
std::string_view level_text(std::int64_t level);
// Returns the text of user_range.event_type, such as "push/pop"; N/A if unknown.
std::string_view event_type_text(std::int64_t type);

// Start of the collection; records that end before it are not exported. INT64_MIN if unknown.
std::int64_t window_begin_ns(const Database& db);

// Returns the start of the collection as used in file names. Empty if it is not all digits: the
// store is untrusted input.
std::string time_stamp(const Database& db);
// Returns the lowest and highest id of a table; 0 and 0 if it is empty.
IdRange id_range(const Database& db, std::string_view table);
bool has_rows(const Database& db, std::string_view select);

// Returns the id of `text` in the table `name`; -1, which is never an id, if it is missing.
std::int64_t find_name_id(const Database& db, std::string_view text);

inline std::size_t hash_of(std::initializer_list<std::int64_t> parts) {
  std::uint64_t hash = 0;
  for (const std::int64_t part : parts) {
    hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

// Decides which calls count: those that end within the collection, and those made while a model is
// loaded. Query in order of start.
class CallWindow {
 public:
  explicit CallWindow(const Database& db)
      : begin_ns_(window_begin_ns(db)), load_name_id_(find_name_id(db, "ModelLoad")) {}

  // Accepts every recorded call.
  static CallWindow any() { return CallWindow(); }

  bool takes(std::int64_t name_id, std::int64_t thread_id, std::int64_t start_ns,
             std::int64_t end_ns) {
    return start_ns >= begin_ns_ || takes_early(name_id, thread_id, end_ns);
  }
  std::int64_t begin_ns() const { return begin_ns_; }

 private:
  CallWindow() = default;
  bool takes_early(std::int64_t name_id, std::int64_t thread_id, std::int64_t end_ns);

  std::int64_t begin_ns_ = INT64_MIN;
  std::int64_t load_name_id_ = kNull;
  std::unordered_map<std::int64_t, std::int64_t> load_ends_;  // latest end, by thread
};

// Task types as ids of texts; kNull if there is no type.
class TaskTypes {
 public:
  explicit TaskTypes(const Database& db)
      : fusion_(find_name_id(db, "FFTS_PLUS")), missing_(find_name_id(db, "N/A")) {}

  // Prefers the host's type; uses the device's if the host's is missing or FFTS_PLUS
  // (cann_device.md 14.3).
  std::int64_t effective(std::int64_t host, std::int64_t device) const {
    return host == kNull || host == fusion_ ? device : host;
  }
  // Returns the type of the task's operator if it has one, else effective().
  std::int64_t shown(std::int64_t unit, std::int64_t host, std::int64_t device) const {
    return unit != kNull && unit != missing_ ? unit : effective(host, device);
  }

 private:
  std::int64_t fusion_;
  std::int64_t missing_;
};

// Texts of CANN captures that tables, timelines and the unified database share: names by id, and
// texts for numbers in records. Source of the numbers: cann_host.md 1.8, 1.9.

inline constexpr std::size_t kMaxNames = 1 << 16;

// Looks up texts of the table `name` by id, with a cache.
class Texts {
 public:
  explicit Texts(const Database& db);
  // Valid until the next call. Returns the empty text for an unknown id.
  const std::string& operator()(std::int64_t id);

 private:
  Statement read_;
  RecentMap<std::int64_t, std::string, kMaxNames> known_;
};

class OpNames {
 public:
  explicit OpNames(const Database& db);
  // Empty if `op_id` is empty or unknown, or if the operator has no name.
  std::optional<std::int64_t> find(std::optional<std::int64_t> op_id);

 private:
  Statement read_;
  RecentMap<std::int64_t, std::optional<std::int64_t>, kMaxNames> known_;
};

struct NumberText {
  std::int64_t number = 0;
  std::string_view text;
};
std::span<const NumberText> copy_directions();
std::span<const NumberText> comm_data_types();    // T4 of cann_host.md 1.9
std::span<const NumberText> link_types();         // T6
std::span<const NumberText> transport_types();    // T7
std::span<const NumberText> remote_copy_types();  // T8

// Returns `other` for a number that is not in the table.
std::string_view find_text(std::span<const NumberText> table, std::int64_t number,
                           std::string_view other = {});

// TaskCounters: the raw counters of tasks, input of PmuMetrics.

// Query in ascending order of task ids.
class TaskCounterCursor {
 public:
  explicit TaskCounterCursor(const Database& db, std::int64_t first_task = INT64_MIN)
      : rows_(db, TaskPmuRow::kTable, TaskPmuRow::kColumns, read_places(db),
              {.first_id = first_task, .not_null = {}, .equal = {}}) {
    cells_.fill(kNull);
    has_more_ = rows_.next(cells_.data());
  }

  // Null if the task has no counters.
  const std::int64_t* find(std::int64_t task_id) {
    while (has_more_ && cells_[0] < task_id) has_more_ = rows_.next(cells_.data());
    return has_more_ && cells_[0] == task_id ? cells_.data() + 1 : nullptr;
  }

 private:
  // Cells of the id and of the counter columns in use, which are the first ones.
  static std::vector<std::size_t> read_places(const Database& db) {
    Statement read = db.prepare("SELECT ifnull(max(column_number) + 1, 0) FROM pmu_column");
    const std::int64_t count = read.step() ? read.integer(0) : 0;
    const auto used = static_cast<std::size_t>(
        std::clamp<std::int64_t>(count, 0, static_cast<std::int64_t>(kPmuColumns)));
    std::vector<std::size_t> places(used + 1);
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
    return places;
  }

  CellReader rows_;
  std::array<std::int64_t, kPmuColumns + 1> cells_{};
  bool has_more_ = false;
};

}  // namespace msprof::cann
