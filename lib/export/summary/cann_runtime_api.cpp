// runtime_api of CANN 5: one row a runtime call and thread, longest total first.
// Source: cann_device.md 24. The streams of calls are not in the data of today: N/A.
#include <algorithm>
#include <map>
#include <tuple>

#include "export/products.hpp"
#include "export/scoped_rows.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

using cann::Times;

struct Caller {
  std::string name;
  std::int64_t process = kNull;
  std::int64_t thread = kNull;
  auto operator<=>(const Caller&) const = default;
};

void write_id(RowSink& out, std::int64_t id) {
  id == kNull ? out.missing() : out.number(id);
}

class CannRuntimeApi : public cann::Table {
 public:
  CannRuntimeApi()
      : Table({.name = "runtime_api",
               .title = "Runtime calls",
               .help = "count, total, mean, shortest and longest time of every runtime call",
               .exists = cann::exists_call<call_level::kRuntime>(),
               .cann5_place = 5,
               .is_cann5_only = true,
               .is_cann5_whole = true},
              {"Name", "Stream ID", "Time(%)", "Time(ns)", "Calls", "Avg(ns)", "Min(ns)", "Max(ns)",
               "Process ID", "Thread ID"}) {}

  void write(const Database& db, const OutputFile& output_file, RowSink& out) const override {
    const std::map<Caller, Times> groups = read_groups(db, output_file);
    int128 whole = 0;
    std::vector<const std::pair<const Caller, Times>*> rows;
    for (const auto& row : groups) {
      whole += row.second.total_ns;
      rows.push_back(&row);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
      return a->second.total_ns > b->second.total_ns;
    });
    for (const auto* row : rows) write_row(out, row->first, row->second, whole);
  }

 private:
  static std::map<Caller, Times> read_groups(const Database& db, const OutputFile& output_file) {
    std::map<Caller, Times> groups;
    cann::Texts texts(db);
    cann::CallCursor calls(db, output_file.scope, {&ApiCallRow::process_id, &ApiCallRow::level});
    while (calls.next()) {
      if (calls->level != call_level::kRuntime) continue;
      const auto name = given(calls->name_id);
      const Caller caller{name ? texts(*name) : "N/A", calls->process_id, calls->thread_id};
      groups[caller].add(calls.duration_ns());
    }
    return groups;
  }

  static void write_row(RowSink& out, const Caller& caller, const Times& times, int128 whole) {
    out.text(caller.name);
    out.missing();
    out.number(whole == 0 ? "0" : cann::trimmed3(times.total_ns * 100, whole));
    out.number(fixed(times.total_ns, 1, 0));
    out.number(times.count);
    out.number(cann::trimmed3(times.total_ns, times.count));
    out.number(times.shortest_ns);
    out.number(times.longest_ns);
    write_id(out, caller.process);
    write_id(out, caller.thread);
    out.end_row();
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_runtime_api() {
  return std::make_unique<CannRuntimeApi>();
}

}  // namespace msprof
