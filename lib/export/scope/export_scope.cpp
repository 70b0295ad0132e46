#include "export/scope/export_scope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "export/scope/export_style.hpp"
#include "export/scope/iteration_calls.hpp"
#include "store/row_cursor.hpp"
#include "store/schema.hpp"

namespace msprof {

namespace {

// Returns "model 1: iterations 1 to 4; model 7: iteration 1", for an error message.
std::string iterations_there_are(const Database& db) {
  constexpr int kMax = 10;
  Statement read = db.prepare(
      "SELECT model_number, min(number), max(number) FROM iteration GROUP BY model_number"
      " ORDER BY model_number");
  std::string text;
  for (int count = 0; read.step(); ++count) {
    if (count == kMax) return text + "; …";
    const std::int64_t first = read.integer(1);
    const std::int64_t last = read.integer(2);
    text += fmt::format("{}model {}: {}", text.empty() ? "" : "; ", read.integer(0),
                        first == last ? fmt::format("iteration {}", first)
                                      : fmt::format("iterations {} to {}", first, last));
  }
  return text.empty() ? "this capture has no iterations" : text;
}

std::int64_t only_model(const Database& db) {
  Statement read =
      db.prepare("SELECT min(model_number), count(DISTINCT model_number) FROM iteration");
  if (read.step() && read.integer(1) == 1) return read.integer(0);
  throw Error(
      Exit::usage,
      fmt::format("--iteration-id requires --model-id unless exactly one model has iterations; {}",
                  iterations_there_are(db)));
}

// An iteration of CANN 5 contains all tasks, of any model, that end after the previous iteration
// ends and not after its own end. Source: cann5_classic.md 9.
void take_ends(const Database& db, std::vector<IterationWindow>& windows) {
  Statement read = db.prepare(
      "SELECT max(end_ns) FROM iteration WHERE device_id = ? AND end_ns < ?"
      " AND is_framework_step = 0");
  for (IterationWindow& window : windows) {
    read.reset();
    read.bind(1, window.device_id).bind(2, window.end_ns);
    window.assigns_by_end = true;
    window.begin_ns = read.step() ? read.maybe_integer(0).value_or(INT64_MIN) : INT64_MIN;
  }
}

struct Stretch {
  std::int64_t begin_ns = INT64_MIN;
  std::int64_t end_ns = INT64_MAX;
};

Stretch enclosing_range(const std::vector<IterationWindow>& windows) {
  if (windows.empty()) return {};
  Stretch stretch{INT64_MAX, INT64_MIN};
  for (const IterationWindow& window : windows) {
    stretch.begin_ns = std::min(stretch.begin_ns, window.begin_ns);
    stretch.end_ns = std::max(stretch.end_ns, window.end_ns);
  }
  return stretch;
}

Stretch in_range(const ExportScope& scope, Stretch stretch) {
  return {std::max(stretch.begin_ns, scope.range_begin_ns),
          std::min(stretch.end_ns, scope.range_end_ns)};
}

// Returns the rows to read; empty means all. Captures without device tasks have no blocks.
std::optional<std::vector<IdRange>> find_blocks(const Database& db, TimeBlockRow::Table table,
                                                Stretch stretch) {
  bool has_any = false;
  std::vector<IdRange> ranges;
  RowCursor<TimeBlockRow> blocks(db,
                                 {&TimeBlockRow::first_row_id, &TimeBlockRow::last_row_id,
                                  &TimeBlockRow::first_start_ns, &TimeBlockRow::last_end_ns},
                                 {.equal = {{&TimeBlockRow::of_table, table}}});
  while (blocks.next()) {
    has_any = true;
    // An unknown time could be any time.
    const bool is_before = blocks->last_end_ns != kNull && blocks->last_end_ns < stretch.begin_ns;
    const bool is_behind =
        blocks->first_start_ns != kNull && blocks->first_start_ns > stretch.end_ns;
    if (is_before || is_behind) continue;
    // Only an untrusted store has blocks out of order.
    if (!ranges.empty() && blocks->first_row_id <= ranges.back().last) return std::nullopt;
    if (!ranges.empty() && blocks->first_row_id - 1 == ranges.back().last) {
      ranges.back().last = blocks->last_row_id;
    } else {
      ranges.push_back({blocks->first_row_id, blocks->last_row_id});
    }
  }
  return has_any ? std::optional(std::move(ranges)) : std::nullopt;
}

}  // namespace

bool ExportScope::is_everything() const {
  return devices.empty() && range_begin_ns == INT64_MIN && range_end_ns == INT64_MAX &&
         min_duration_ns == 0 && windows.empty() && !model_number;
}

ExportScope ExportScope::without_iteration() const {
  ExportScope whole = *this;
  whole.model_number.reset();
  whole.iteration.reset();
  whole.windows.clear();
  whole.calls = nullptr;
  whole.candidates = nullptr;
  return whole;
}

bool ExportScope::takes_device(std::int64_t device_id) const {
  return devices.empty() || std::find(devices.begin(), devices.end(), device_id) != devices.end();
}

bool ExportScope::takes(std::int64_t device_id, std::int64_t start_ns, std::int64_t end_ns) const {
  if (!takes_time(start_ns, end_ns) || !takes_device(device_id)) return false;
  if (windows.empty()) return true;
  return std::any_of(windows.begin(), windows.end(), [&](const IterationWindow& window) {
    if (window.assigns_by_end)
      return window.device_id == device_id && end_ns > window.begin_ns && end_ns <= window.end_ns;
    return window.device_id == device_id && start_ns >= window.begin_ns && start_ns < window.end_ns;
  });
}

bool ExportScope::takes_host(std::int64_t start_ns, std::int64_t end_ns) const {
  if (!takes_time(start_ns, end_ns)) return false;
  if (windows.empty()) return true;
  return std::any_of(windows.begin(), windows.end(), [&](const IterationWindow& window) {
    return start_ns >= window.begin_ns && start_ns < window.end_ns;
  });
}

bool ExportScope::takes_call(std::int64_t thread_id, std::int64_t start_ns,
                             std::int64_t end_ns) const {
  if (!takes_time(start_ns, end_ns)) return false;
  const auto taken = calls ? calls->takes_call(thread_id, start_ns, end_ns) : std::nullopt;
  return taken.value_or(takes_host(start_ns, end_ns));
}

bool ExportScope::takes_range(std::int64_t start_ns, std::int64_t end_ns) const {
  if (!takes_time(start_ns, end_ns)) return false;
  const auto taken = calls ? calls->takes_range(start_ns, end_ns) : std::nullopt;
  return taken.value_or(takes_host(start_ns, end_ns));
}

void find_candidates(const Database& db, ExportScope& scope) {
  Stretch host = enclosing_range(scope.windows);
  const Stretch stretch = in_range(scope, host);
  if (stretch.begin_ns == INT64_MIN && stretch.end_ns == INT64_MAX) return;
  auto candidates = std::make_shared<CandidateRows>();
  candidates->tasks = find_blocks(db, TimeBlockRow::kTasks, stretch);
  if (scope.calls && !scope.calls->own().empty()) {
    host.begin_ns = std::min(host.begin_ns, scope.calls->own().first_ns());
    host.end_ns = std::max(host.end_ns, scope.calls->own().last_ns());
  }
  host = in_range(scope, host);
  // Whether a call from before the collection counts depends on the calls around it (CallWindow),
  // so all calls are needed.
  if (host.begin_ns >= read_meta_integer(db, "window.begin_ns").value_or(INT64_MIN))
    candidates->calls = find_blocks(db, TimeBlockRow::kCalls, host);
  scope.candidates = std::move(candidates);
}

std::vector<IdRange> candidates_in(const std::optional<std::vector<IdRange>>& candidates,
                                   IdRange rows) {
  if (!candidates) return {rows};
  std::vector<IdRange> ranges;
  for (const IdRange& range : *candidates) {
    const IdRange both{std::max(range.first, rows.first), std::min(range.last, rows.last)};
    if (both.first <= both.last) ranges.push_back(both);
  }
  return ranges;
}

std::int64_t collection_begin_ns(const Database& db) {
  if (const auto begin = read_meta_integer(db, "window.begin_ns")) return *begin;
  Statement read = db.prepare(
      "SELECT min(first_ns) FROM (SELECT min(first_start_ns) AS first_ns FROM step_time"
      " UNION ALL SELECT min(start_ns) FROM api_call)");
  return read.step() ? read.integer(0) : 0;
}

void find_iteration(const Database& db, ExportScope& scope) {
  check_style(db, scope, ExportStyle::current);
  if (!scope.model_number) scope.model_number = only_model(db);
  const std::int64_t first = scope.iteration.value_or(kNull);
  Statement read = db.prepare(
      "SELECT device_id, start_ns, end_ns, number FROM iteration WHERE model_number = ?"
      " AND number >= ? AND number - ? < ? ORDER BY device_id, start_ns");
  read.bind(1, scope.model_number.value_or(kNull)).bind(2, first).bind(3, first);
  read.bind(4, scope.iteration_count);
  scope.windows.clear();
  std::set<std::int64_t> found;
  while (read.step()) {
    if (!scope.takes_device(read.integer(0))) continue;
    scope.windows.push_back({read.integer(0), read.integer(1), read.integer(2)});
    found.insert(read.integer(3));
  }
  if (is_old_capture(db)) take_ends(db, scope.windows);
  if (static_cast<std::int64_t>(found.size()) != scope.iteration_count) {
    std::int64_t missing = first;
    while (found.contains(missing)) ++missing;
    throw Error(Exit::usage, fmt::format("no iteration {} of model {}; {}", missing,
                                         scope.model_number.value_or(0), iterations_there_are(db)));
  }
  const Stretch stretch = enclosing_range(scope.windows);
  scope.calls = std::make_shared<const IterationCalls>(
      db,
      [&scope](const TaskRow& task) {
        return scope.takes(task.device_id, task.start_ns,
                           saturating_add(task.start_ns, task.duration_ns)) &&
               scope.takes_model(given(task.model_number));
      },
      stretch.begin_ns, stretch.end_ns);
}

}  // namespace msprof
