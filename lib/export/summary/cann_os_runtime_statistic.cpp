// os_runtime_statistic: system calls and pthread calls of each thread. Source: cann_system.md 17.
#include <algorithm>
#include <map>

#include "export/products.hpp"
#include "export/scope/host_usage.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

class CannOsRuntimeStatistic : public cann::CannTable {
 public:
  CannOsRuntimeStatistic()
      : CannTable({.name = "os_runtime_statistic",
                   .title = "Calls of the operating system",
                   .help = "system calls and thread library calls of each thread",
                   .exists = "SELECT 1 FROM track JOIN name ON name.id = kind_name_id"
                             " WHERE name.text IN ('host_syscall', 'host_pthreadcall')",
                   .needs = {"host_syscall|host_pthreadcall"},
                   .group = kCounterLayers},
                  {"Device_id", "Process ID", "Thread ID", "Name", "Time(%)", "Time(us)", "Count",
                   "Avg(us)", "Max(us)", "Min(us)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    struct Call {
      std::string name;
      std::int64_t thread = 0;
      cann::DurationStats times;
    };
    std::map<std::pair<std::string, std::int64_t>, cann::DurationStats> by_name;
    for (const std::string_view kind : {"host_syscall", "host_pthreadcall"}) {
      WholeIntervals samples(db, kind, output_file.scope);
      std::vector<cann::DurationStats*> times;
      for (const CounterTrack& track : samples.tracks()) {
        times.push_back(shows_call(kind, track.counter)
                            ? &by_name[{track.counter, track.number.value_or(0)}]
                            : nullptr);
      }
      while (samples.next()) {
        if (times[samples->track->index] != nullptr)
          times[samples->track->index]->add(samples->value);
      }
    }
    std::vector<Call> calls;
    int128 all_ns = 0;
    for (const auto& [key, times] : by_name) {
      if (times.count == 0) continue;
      calls.push_back({key.first, key.second, times});
      all_ns += times.total_ns;
    }
    std::stable_sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
      return a.times.total_ns > b.times.total_ns;
    });

    const std::int64_t process = read_meta_integer(db, "host.pid").value_or(0);
    const auto us = [&](double ns) { out.real(ns / 1000); };
    for (const Call& call : calls) {
      const auto total_ns = static_cast<double>(call.times.total_ns);
      out.text("host");
      out.number(process);
      out.number(call.thread);
      out.text(call.name);
      out.real(all_ns == 0 ? 0 : total_ns / static_cast<double>(all_ns) * 100);
      us(total_ns);
      out.number(call.times.count);
      us(total_ns / static_cast<double>(call.times.count));
      us(static_cast<double>(call.times.longest_ns));
      us(static_cast<double>(call.times.shortest_ns));
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_os_runtime_statistic() {
  return std::make_unique<CannOsRuntimeStatistic>();
}

}  // namespace msprof
