// ai_stack_time of CANN 5: what each layer of the software did, from the application's call down to
// the tasks of the device: calls in the order of their begins, then tasks.
// Source: cann_device.md 24. An infer is an iteration: known where one was asked for.
#include "export/products.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

std::string_view module_of(std::int64_t level) {
  switch (level) {
    case cann::kAclLevel:
      return "AscendCL";
    case cann::kModelLevel:
    case cann::kNodeLevel:
      return "GE";
    case cann::kRuntimeLevel:
      return "Runtime";
    default:
      return "";  // none of that time
  }
}

class Writer {
 public:
  Writer(const Database& db, const Document& document, TableWriter& out)
      : db_(db),
        scope_(document),
        iteration_(document.scope.iteration),
        window_(db),
        out_(out),
        texts_(db) {}

  void write_calls() {
    Statement read = db_.prepare(
        "SELECT level, name_id, start_ns, end_ns, thread_id FROM api_call WHERE level IS NOT NULL"
        " ORDER BY id");
    while (read.step()) {
      const std::string_view module = module_of(read.integer(0));
      const std::int64_t start = read.integer(2);
      const std::int64_t end = read.integer(3);
      const bool counts = window_.takes(read.integer(1), read.integer(4), start, end);
      if (!counts || module.empty() || !scope_.takes_host(start, end)) continue;
      write_row(module, read.maybe_integer(1), start, cann::minus_ns(end, start));
    }
  }

  void write_tasks() {
    Statement read = db_.prepare(
        "SELECT device_id, start_ns, duration_ns, task.model_number,"
        " coalesce(op.name_id, kernel_name_id, host_type_name_id, device_type_name_id)"
        " FROM task LEFT JOIN op ON op.id = task.op_id WHERE device_type_name_id IS NOT NULL"
        " ORDER BY task.id");
    while (read.step()) {
      const std::int64_t start = read.integer(1);
      const std::int64_t duration = read.integer(2);
      if (cann::plus_ns(start, duration) < window_.begin_ns() ||
          !scope_.takes_for(read.integer(0), start, duration) ||
          !scope_.takes_model(read.maybe_integer(3))) {
        continue;
      }
      write_row("Task Scheduler", read.maybe_integer(4), start, duration);
    }
  }

 private:
  void write_row(std::string_view module, std::optional<std::int64_t> name, std::int64_t start_ns,
                 std::int64_t duration_ns) {
    out_.number_or_missing(iteration_);
    out_.text(module);
    cann::text_or_missing(out_, texts_, name);
    cann::us_timestamp(out_, start_ns);
    out_.number(duration_ns);
    out_.end_row();
  }

  const Database& db_;
  cann::ScopeFilter scope_;
  std::optional<std::int64_t> iteration_;
  cann::CallWindow window_;
  TableWriter& out_;
  cann::Texts texts_;
};

class CannAiStackTime : public cann::Table {
 public:
  CannAiStackTime()
      : Table({.name = "ai_stack_time",
               .title = "Time of the layers",
               .help = "calls of AscendCL, GE and the runtime, and tasks of the device",
               .exists = "SELECT 1 FROM api_call WHERE level IS NOT NULL UNION ALL"
                         " SELECT 1 FROM task WHERE device_type_name_id IS NOT NULL",
               .cann5_place = 4,
               .is_cann5_only = true},
              {"Infer ID", "Module", "API", "Start Time", "Duration(ns)"}) {}

  void write(const Database& db, const Document& document, TableWriter& out) const override {
    Writer writer(db, document, out);
    writer.write_calls();
    writer.write_tasks();
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_ai_stack_time() {
  return std::make_unique<CannAiStackTime>();
}

}  // namespace msprof
