#include "analyze/report/window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/number.hpp"

namespace msprof::report {

namespace {

// Number of tasks to show of a capture without iterations.
constexpr std::int64_t kFirstTasks = 4000;
// Margin before and after the window: 1 / 50 of its length.
constexpr std::int64_t kMarginPart = 50;
// Maximum distance of launch calls before an iteration, in lengths of the iteration.
constexpr std::int64_t kMaxLead = 32;

struct Stretch {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t number = 0;
  std::int64_t length_ns() const { return saturating_subtract(end_ns, begin_ns); }
};

std::size_t find_median_index(const std::vector<Stretch>& stretches) {
  std::vector<std::size_t> order(stretches.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>((order.size() - 1) / 2);
  std::nth_element(order.begin(), middle, order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(stretches[a].length_ns(), a) < std::pair(stretches[b].length_ns(), b);
  });
  return *middle;
}

Lengths summarize_lengths(const std::vector<Stretch>& stretches) {
  Lengths lengths;
  lengths.count = stretches.size();
  lengths.chosen = find_median_index(stretches);
  lengths.median_ns = stretches[lengths.chosen].length_ns();
  lengths.shortest_ns = INT64_MAX;
  for (const Stretch& one : stretches) {
    lengths.all_ns.push_back(one.length_ns());
    lengths.shortest_ns = std::min(lengths.shortest_ns, one.length_ns());
    lengths.longest_ns = std::max(lengths.longest_ns, one.length_ns());
  }
  return lengths;
}

void widen(Window& window) {
  window.late_begin_ns = std::max(window.late_begin_ns, window.begin_ns);
  const std::int64_t margin = saturating_subtract(window.end_ns, window.begin_ns) / kMarginPart;
  window.begin_ns = saturating_subtract(window.begin_ns, margin);
  window.end_ns = saturating_add(window.end_ns, margin);
}

std::vector<Stretch> read_executions(const Database& db, std::int64_t step_id) {
  Statement read = db.prepare(
      "SELECT task.execution, task.start_ns, task.duration_ns FROM task_run AS run"
      " CROSS JOIN task ON task.id BETWEEN run.first_task_id AND run.last_task_id"
      " WHERE run.step_id = ? AND task.start_ns IS NOT NULL AND task.duration_ns IS NOT NULL"
      " ORDER BY task.execution, task.start_ns, task.id");
  read.bind(1, step_id);
  std::vector<Stretch> executions;
  while (read.step()) {
    const std::int64_t number = read.is_null(0) ? 0 : read.integer(0);
    const std::int64_t begin = read.integer(1);
    const std::int64_t end = saturating_add(begin, std::max<std::int64_t>(read.integer(2), 0));
    if (executions.empty() || executions.back().number != number) {
      executions.push_back({begin, end, number});
    } else {
      executions.back().end_ns = std::max(executions.back().end_ns, end);
    }
  }
  return executions;
}

// Adds the model execution call that contains the start of the window; of several, the last one
// started.
void add_call(const Database& db, std::int64_t model_row, Window& window) {
  Statement read = db.prepare(
      "SELECT call.start_ns, call.end_ns FROM api_call AS call JOIN name ON name.id = call.name_id"
      " WHERE call.model_row = ? AND call.start_ns <= ? AND call.end_ns >= ?"
      " AND name.text LIKE 'svp_acl_mdl_execute%' ORDER BY call.start_ns DESC, call.id LIMIT 1");
  read.bind(1, model_row).bind(2, window.begin_ns).bind(3, window.begin_ns);
  if (!read.step()) return;
  window.begin_ns = std::min(window.begin_ns, read.integer(0));
  window.end_ns = std::max(window.end_ns, read.integer(1));
}

std::optional<Window> find_step_window(const Database& db, const StepInfo& step,
                                       const ReportWords& words) {
  const auto executions = read_executions(db, step.step_id);
  if (executions.empty()) return {};
  const Stretch& one = executions[find_median_index(executions)];
  Window window{one.begin_ns, one.end_ns, {}, summarize_lengths(executions), INT64_MIN};
  window.what = fmt::format(fmt::runtime(words.execution_window), one.number, executions.size());
  add_call(db, step.model_row, window);
  widen(window);
  return window;
}

// Adds the calls that launched the tasks of an iteration, unless they are long before it.
void add_launches(const Database& db, std::int64_t device, Window& window) {
  const std::int64_t length = saturating_subtract(window.end_ns, window.begin_ns);
  const std::int64_t earliest = saturating_subtract(
      window.begin_ns, length > INT64_MAX / kMaxLead ? INT64_MAX : length * kMaxLead);
  Statement read = db.prepare(
      "SELECT min(call.start_ns) FROM task JOIN api_call AS call ON call.id = task.api_id"
      " WHERE task.device_id = ? AND task.start_ns BETWEEN ? AND ? AND call.start_ns >= ?");
  read.bind(1, device).bind(2, window.begin_ns).bind(3, window.end_ns).bind(4, earliest);
  if (read.step() && !read.is_null(0)) window.begin_ns = std::min(window.begin_ns, read.integer(0));
}

// Selects the model and device with the largest total iteration time.
std::optional<Window> find_iteration_window(const Database& db, const ReportWords& words) {
  Statement longest = db.prepare(
      "SELECT device_id, model_number FROM iteration WHERE start_ns IS NOT NULL AND end_ns IS NOT"
      " NULL GROUP BY 1, 2 ORDER BY total(end_ns - start_ns) DESC, 1, 2 LIMIT 1");
  if (!longest.step()) return {};
  const std::int64_t device = longest.integer(0);
  const std::int64_t model = longest.integer(1);
  Statement read = db.prepare(
      "SELECT start_ns, end_ns, number FROM iteration WHERE device_id IS ? AND model_number IS ?"
      " AND start_ns IS NOT NULL AND end_ns >= start_ns ORDER BY start_ns, number");
  read.bind(1, device).bind(2, model);
  std::vector<Stretch> iterations;
  while (read.step()) iterations.push_back({read.integer(0), read.integer(1), read.integer(2)});
  if (iterations.empty()) return {};
  const Stretch& one = iterations[find_median_index(iterations)];
  Window window{one.begin_ns, one.end_ns, {}, summarize_lengths(iterations), INT64_MIN};
  window.what = fmt::format(fmt::runtime(words.iteration_window), one.number, model, device,
                            iterations.size());
  window.late_begin_ns = window.begin_ns;
  add_launches(db, device, window);
  widen(window);
  return window;
}

std::optional<Window> find_first_window(const Database& db, const ReportWords& words) {
  Statement read = db.prepare(
      "SELECT min(start_ns), max(start_ns + ifnull(duration_ns, 0)) FROM (SELECT start_ns,"
      " duration_ns FROM task WHERE start_ns IS NOT NULL ORDER BY id LIMIT ?)");
  read.bind(1, kFirstTasks);
  Window window{0, 0, std::string(words.first_window), {}, INT64_MIN};
  if (read.step() && !read.is_null(0)) {
    window.begin_ns = read.integer(0);
    window.end_ns = read.integer(1);
  } else {
    Statement calls = db.prepare("SELECT min(start_ns), max(end_ns) FROM api_call");
    if (!calls.step() || calls.is_null(0) || calls.is_null(1)) return {};
    window.begin_ns = calls.integer(0);
    window.end_ns = calls.integer(1);
  }
  widen(window);
  return window;
}

}  // namespace

std::optional<Window> choose_window(const Database& db, const StepInfo* step,
                                    const ReportWords& words) {
  if (step != nullptr) {
    auto window = find_step_window(db, *step, words);
    if (window) return window;
  } else if (auto window = find_iteration_window(db, words)) {
    return window;
  }
  return find_first_window(db, words);
}

}  // namespace msprof::report
