// Rules about rows of CANN captures that tables and timelines share: the calls that count, the
// types that a task shows, the meaning of numbers.
// Source: cann_host.md 2.1, 2.6; cann_device.md 14.3, 14.5.
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
#include "export/export_scope.hpp"
#include "store/database.hpp"
#include "store/row_cursor.hpp"
#include "store/schema.hpp"

namespace msprof::cann {

// Device number of the host, where a product has numbers only.
inline constexpr std::int64_t kHostDevice = 31;

// "acl", "node", …; empty for a level without a name.
std::string_view level_text(std::int64_t level);
// "push/pop" of user_range.event_type; N/A for an unknown one.
std::string_view event_type_text(std::int64_t type);

// Begin of the collection; what ended before it is left out. INT64_MIN when unknown.
std::int64_t window_begin_ns(const Database& db);

// Begin of the collection, as in file names: digits, or empty if the store has anything
// else: a store can come with a capture.
std::string time_stamp(const Database& db);
// The lowest and the highest id of a table; 0 and 0 where it is empty.
IdRange id_range(const Database& db, std::string_view table);
// True if the query `select` has a row.
bool has_rows(const Database& db, std::string_view select);

// The id of a text in the table `name`; -1, which no row has, where it is not there.
std::int64_t name_id_of(const Database& db, std::string_view text);

// A hash of ids, for keys of a few of them.
inline std::size_t hash_of(std::initializer_list<std::int64_t> parts) {
  std::uint64_t hash = 0;
  for (const std::int64_t part : parts) {
    hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

// The calls that count: those that end within the collection, and those within the loading of a
// model. To be asked in the order of their starts.
class CallWindow {
 public:
  explicit CallWindow(const Database& db)
      : begin_ns_(window_begin_ns(db)), load_name_id_(name_id_of(db, "ModelLoad")) {}

  // All that were recorded.
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

// Types of tasks, as ids of texts; kNull where there is none.
class TaskTypes {
 public:
  explicit TaskTypes(const Database& db)
      : fusion_(name_id_of(db, "FFTS_PLUS")), missing_(name_id_of(db, "N/A")) {}

  // The host's, but the device's if the host has none with a meaning
  // (cann_device.md 14.3).
  std::int64_t effective(std::int64_t host, std::int64_t device) const {
    return host == kNull || host == fusion_ ? device : host;
  }
  // That of the operator where it has one.
  std::int64_t shown(std::int64_t unit, std::int64_t host, std::int64_t device) const {
    return unit != kNull && unit != missing_ ? unit : effective(host, device);
  }

 private:
  std::int64_t fusion_;
  std::int64_t missing_;
};

// Texts of CANN captures that tables, timelines and the unified database share: names by their id,
// and the meaning of numbers in records. Source of the numbers: cann_host.md 1.8, 1.9.

enum class TextForm {
  plain,
  json,  // quoted and escaped
};

// So many names are kept in memory.
inline constexpr std::size_t kMaxNames = 1 << 16;

// Texts of the table `name` by id; those asked for lately are kept.
class Texts {
 public:
  explicit Texts(const Database& db, TextForm form = TextForm::plain);
  // Valid until the next call; the empty text for an id that is not there.
  const std::string& operator()(std::int64_t id);

 private:
  TextForm form_;
  Statement read_;
  RecentMap<std::int64_t, std::string, kMaxNames> known_;
};

// Names of operators, as ids of texts.
class OpNames {
 public:
  explicit OpNames(const Database& db);
  // Empty for none, for one that is not there, and for one without a name.
  std::optional<std::int64_t> of(std::optional<std::int64_t> op_id);

 private:
  Statement read_;
  RecentMap<std::int64_t, std::optional<std::int64_t>, kMaxNames> known_;
};

struct NumberText {
  std::int64_t number = 0;
  std::string_view text;
};
std::span<const NumberText> copy_directions();
std::span<const NumberText> comm_data_types();    // T4
std::span<const NumberText> link_types();         // T6
std::span<const NumberText> transport_types();    // T7
std::span<const NumberText> remote_copy_types();  // T8

// `other` for a number that is not in the table.
std::string_view text_of(std::span<const NumberText> table, std::int64_t number,
                         std::string_view other = {});

// TaskCounters: the raw counters of tasks, input of PmuMetrics. For op_summary, the
// timeline of --style cann5 and the unified database.

// The counters of tasks, asked for in the order of the tasks.
class TaskCounters {
 public:
  explicit TaskCounters(const Database& db)
      : rows_(db, TaskPmuRow::kTable, TaskPmuRow::kColumns, places_of(db), {}) {
    cells_.fill(kNull);
    more_ = rows_.next(cells_.data());
  }

  // Null where the task has none.
  const std::int64_t* of(std::int64_t task_id) {
    while (more_ && cells_[0] < task_id) more_ = rows_.next(cells_.data());
    return more_ && cells_[0] == task_id ? cells_.data() + 1 : nullptr;
  }

 private:
  // The id, and the columns in use: those from the first on.
  static std::vector<std::size_t> places_of(const Database& db) {
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
  bool more_ = false;
};

}  // namespace msprof::cann
