// runtime_api of CANN 5: one row per runtime call and thread, longest total time first; for CANN 5
// captures one row per runtime call and stream, by name. Current captures do not record the streams
// of calls: N/A. Source: cann_device.md 24, cann5_classic.md 10.
#include <algorithm>
#include <map>

#include "export/old/tables.hpp"

namespace msprof {

namespace {

struct Caller {
  std::string name;
  std::int64_t stream = kNull;
  std::int64_t process = kNull;  // process and thread: only for current captures
  std::int64_t thread = kNull;
  auto operator<=>(const Caller&) const = default;
};

struct CallerGroup {
  ApiCallRow first;  // source of process and thread
  cann::DurationStats times;
};
using CallerGroups = std::map<Caller, CallerGroup>;

class RuntimeApi : public cann::CannTable {
 public:
  explicit RuntimeApi(old::Age age)
      : CannTable({.name = "runtime_api",
                   .title = "Runtime calls",
                   .help = "count, total, mean, shortest and longest time of every runtime call",
                   .exists = cann::exists_call<call_level::kRuntime>()},
                  {"Name", "Stream ID", "Time(%)", "Time(ns)", "Calls", "Avg(ns)", "Min(ns)",
                   "Max(ns)", "Process ID", "Thread ID"}),
        age_(age),
        is_current_(age == old::Age::current) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    const CallerGroups groups = read_groups(db, output_file.scope);
    int128 whole_ns = 0;
    std::vector<const CallerGroups::value_type*> rows;
    for (const auto& row : groups) {
      whole_ns += row.second.times.total_ns;
      rows.push_back(&row);
    }
    if (is_current_) {
      std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
        return a->second.times.total_ns > b->second.times.total_ns;
      });
    }
    for (const auto* row : rows) write_row(out, row->first, row->second, whole_ns);
  }

 private:
  CallerGroups read_groups(const Database& db, const ExportScope& scope) const {
    CallerGroups groups;
    cann::Texts texts(db);
    old::CallDetails details(db);
    const auto add = [&](const ApiCallRow& call, std::int64_t duration_ns) {
      const auto name = given(call.name_id);
      Caller caller;
      caller.name = name ? texts(*name) : "N/A";
      if (details.find(call.id)) caller.stream = details.stream();
      if (is_current_) caller.process = call.process_id;
      if (is_current_) caller.thread = call.thread_id;
      groups.try_emplace(std::move(caller), CallerGroup{call, {}})
          .first->second.times.add(duration_ns);
    };
    old::for_each_call(db, age_, scope, call_level::kRuntime, add);
    return groups;
  }

  void write_row(RowBuilder& out, const Caller& caller, const CallerGroup& group,
                 int128 whole_ns) const {
    const cann::DurationStats& times = group.times;
    out.text(caller.name);
    out.number_or_missing(given(caller.stream));
    out.number(cann::format_percent(times.total_ns, whole_ns, is_current_ ? 3 : 6));
    out.number(fixed(times.total_ns, 1, 0));
    out.number(times.count);
    // The tools of CANN 5 truncate the mean.
    out.number(is_current_ ? cann::trimmed3(times.total_ns, times.count)
                           : fixed(times.total_ns / times.count, 1, 0));
    out.number(times.shortest_ns);
    out.number(times.longest_ns);
    out.number_or_missing(given(group.first.process_id));
    out.number_or_missing(given(group.first.thread_id));
    out.end_row();
  }

  old::Age age_;
  bool is_current_;
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann5_runtime_api() {
  return std::make_unique<RuntimeApi>(old::Age::current);
}
std::unique_ptr<SummaryTable> make_old_runtime_api() {
  return std::make_unique<RuntimeApi>(old::Age::cann5);
}

}  // namespace msprof
