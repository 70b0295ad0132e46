// acl of CANN 5: one row per AscendCL call, by start. acl_statistic: one row per name, by name; for
// CANN 5 captures its shares and means have more digits. Both cover the whole capture. Source:
// cann_device.md 24, cann5_classic.md 10.
#include <map>

#include "export/old/tables.hpp"

namespace msprof {

namespace {

class Acl : public cann::CannTable {
 public:
  explicit Acl(old::Age age)
      : CannTable({.name = "acl",
                   .title = "Calls of AscendCL",
                   .help = "every call of AscendCL",
                   .exists = cann::exists_call<call_level::kAcl>()},
                  {"Name", "Type", "Start Time", "Duration(us)", "Process ID", "Thread ID"}),
        age_(age) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    cann::Texts texts(db);
    const old::OldTimes times(db);
    const auto write_call = [&](const ApiCallRow& call, std::int64_t duration_ns) {
      cann::text_or_missing(out, texts, given(call.name_id));
      cann::text_or_missing(out, texts, given(call.type_name_id));
      out.number(times.host_ns(call.start_ns));
      if (age_ == old::Age::current) {
        cann::us_number(out, duration_ns);
      } else {
        out.number(cann::trimmed3(duration_ns, 1000));
      }
      out.number_or_missing(given(call.process_id));
      out.number_or_missing(given(call.thread_id));
      out.end_row();
    };
    old::for_each_call(db, age_, output_file.scope, call_level::kAcl, write_call);
  }

 private:
  old::Age age_;
};

class AclStatistic : public cann::CannTable {
 public:
  explicit AclStatistic(old::Age age)
      : CannTable(
            {.name = "acl_statistic",
             .title = "AscendCL by name",
             .help = "count, total, mean, shortest and longest time of every call of AscendCL",
             .exists = cann::exists_call<call_level::kAcl>()},
            {"Name", "Type", "Time(%)", "Time(us)", "Count", "Avg(us)", "Min(us)", "Max(us)",
             "Process ID", "Thread ID"}),
        age_(age) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    struct Group {
      ApiCallRow first;  // source of type, process and thread
      cann::DurationStats times;
    };
    std::map<std::string, Group> groups;
    cann::Texts texts(db);
    int128 whole_ns = 0;
    const auto add = [&](const ApiCallRow& call, std::int64_t duration_ns) {
      const auto name = given(call.name_id);
      const auto at = groups.try_emplace(name ? texts(*name) : "N/A", Group{call, {}}).first;
      at->second.times.add(duration_ns);
      whole_ns += duration_ns;
    };
    old::for_each_call(db, age_, output_file.scope, call_level::kAcl, add);
    const int decimals = age_ == old::Age::current ? 3 : 6;
    for (const auto& [name, group] : groups) {
      const cann::DurationStats& times = group.times;
      out.text(name);
      cann::text_or_missing(out, texts, given(group.first.type_name_id));
      out.number(cann::format_percent(times.total_ns, whole_ns, decimals));
      out.number(cann::trimmed3(times.total_ns, 1000));
      out.number(times.count);
      out.number(cann::trimmed(times.total_ns, int128{times.count} * 1000, decimals));
      out.number(cann::trimmed3(times.shortest_ns, 1000));
      out.number(cann::trimmed3(times.longest_ns, 1000));
      out.number_or_missing(given(group.first.process_id));
      out.number_or_missing(given(group.first.thread_id));
      out.end_row();
    }
  }

 private:
  old::Age age_;
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann5_acl() {
  return std::make_unique<Acl>(old::Age::current);
}
std::unique_ptr<SummaryTable> make_old_acl() {
  return std::make_unique<Acl>(old::Age::cann5);
}
std::unique_ptr<SummaryTable> make_cann5_acl_statistic() {
  return std::make_unique<AclStatistic>(old::Age::current);
}
std::unique_ptr<SummaryTable> make_old_acl_statistic() {
  return std::make_unique<AclStatistic>(old::Age::cann5);
}

}  // namespace msprof
