// acl of CANN 5: one row a call of AscendCL, in the order of their begins; acl_statistic: one row a
// name of them, by name.
// Source: cann_device.md 24. Both are of the whole capture.
#include <map>

#include "export/products.hpp"
#include "export/scoped_rows.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

using cann::Times;

// Calls of AscendCL, with the text of their kind: "ACL_MODEL".
template <typename Take>
void for_each_call(const Database& db, const OutputFile& output_file, Take&& take) {
  cann::CallCursor calls(db, output_file.scope,
                         {&ApiCallRow::process_id, &ApiCallRow::type_name_id, &ApiCallRow::level});
  while (calls.next()) {
    if (calls->level == call_level::kAcl) take(*calls, calls.duration_ns());
  }
}

void write_id(RowSink& out, std::int64_t id) {
  id == kNull ? out.missing() : out.number(id);
}

class CannAcl : public cann::Table {
 public:
  CannAcl()
      : Table({.name = "acl",
               .title = "Calls of AscendCL",
               .help = "every call of AscendCL",
               .exists = cann::exists_call<call_level::kAcl>(),
               .cann5_place = 12,
               .is_cann5_only = true,
               .is_cann5_whole = true},
              {"Name", "Type", "Start Time", "Duration(us)", "Process ID", "Thread ID"}) {}

  void write(const Database& db, const OutputFile& output_file, RowSink& out) const override {
    cann::Texts texts(db);
    for_each_call(db, output_file, [&](const ApiCallRow& call, std::int64_t duration_ns) {
      cann::text_or_missing(out, texts, given(call.name_id));
      cann::text_or_missing(out, texts, given(call.type_name_id));
      out.number(call.start_ns);
      cann::us_number(out, duration_ns);
      write_id(out, call.process_id);
      write_id(out, call.thread_id);
      out.end_row();
    });
  }
};

class CannAclStatistic : public cann::Table {
 public:
  CannAclStatistic()
      : Table({.name = "acl_statistic",
               .title = "AscendCL by name",
               .help = "count, total, mean, shortest and longest time of every call of AscendCL",
               .exists = cann::exists_call<call_level::kAcl>(),
               .cann5_place = 13,
               .is_cann5_only = true,
               .is_cann5_whole = true},
              {"Name", "Type", "Time(%)", "Time(us)", "Count", "Avg(us)", "Min(us)", "Max(us)",
               "Process ID", "Thread ID"}) {}

  void write(const Database& db, const OutputFile& output_file, RowSink& out) const override {
    // Type, process and thread are those of the first call.
    struct Group {
      ApiCallRow first;
      Times times;
    };
    std::map<std::string, Group> groups;
    cann::Texts texts(db);
    int128 whole_ns = 0;
    for_each_call(db, output_file, [&](const ApiCallRow& call, std::int64_t duration_ns) {
      const auto name = given(call.name_id);
      const auto at = groups.try_emplace(name ? texts(*name) : "N/A", Group{call, {}}).first;
      at->second.times.add(duration_ns);
      whole_ns += duration_ns;
    });
    for (const auto& [name, group] : groups) {
      const Times& times = group.times;
      out.text(name);
      cann::text_or_missing(out, texts, given(group.first.type_name_id));
      out.number(whole_ns == 0 ? "0" : cann::trimmed3(times.total_ns * 100, whole_ns));
      out.number(cann::trimmed3(times.total_ns, 1000));
      out.number(times.count);
      out.number(cann::trimmed3(times.total_ns, int128(times.count) * 1000));
      out.number(cann::trimmed3(times.shortest_ns, 1000));
      out.number(cann::trimmed3(times.longest_ns, 1000));
      write_id(out, group.first.process_id);
      write_id(out, group.first.thread_id);
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_acl() {
  return std::make_unique<CannAcl>();
}

std::unique_ptr<SummaryTable> make_cann_acl_statistic() {
  return std::make_unique<CannAclStatistic>();
}

}  // namespace msprof
