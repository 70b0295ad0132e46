// What aicore and aicpu files have in common: operators of records, executions, the run of task
// ids.
#pragma once

#include <fmt/format.h>

#include <vector>

#include "import/svp/svp_kinds.hpp"

namespace msprof::svp {

class TaskRun {
 public:
  TaskRun(const ImportContext& context, SvpModels& models, const RawFile& file,
          std::string_view unit)
      : context_(context),
        models_(models),
        file_(file),
        unit_(unit),
        step_row_(models.step_row(models.name_of(file))),
        first_task_id_(models.last_task_id() + 1) {}

  // The row of the operator with this layer id (kNull: the layout has none).
  std::int64_t op_row(std::int64_t layer_id) {
    const std::size_t index = layer_id == kNull ? 0 : static_cast<std::size_t>(layer_id) + 1;
    if (index >= op_rows_.size()) op_rows_.resize(index + 1, 0);
    if (op_rows_[index] == 0) {
      bool named = false;
      op_rows_[index] = models_.op_row(models_.name_of(file_), layer_id, unit_, named);
      if (!named) ++unnamed_layers_;
    }
    return op_rows_[index];
  }

  // The execution of a record whose layout does not say: how often the operator was seen before.
  std::int64_t count_execution(std::int64_t op) {
    const auto index = static_cast<std::size_t>(op);
    if (index >= executions_.size()) executions_.resize(index + 1, 0);
    return executions_[index]++;
  }

  std::int64_t step_row() const { return step_row_; }

  // Writes the run and reports what concerns the file as a whole.
  void finish(std::string_view kind) {
    const std::int64_t last = models_.last_task_id();
    context_.report.count_file(kind, static_cast<std::uint64_t>(last - first_task_id_ + 1));
    if (last >= first_task_id_) {
      context_.store.add(TaskRunRow{models_.next_run_id(), step_row_, first_task_id_, last});
    }
    if (unnamed_layers_ > 0) {
      context_.report.add(FindingId::unnamed_layers, kind, file_.name,
                          "layers without a name in layer.info", "called layer_<id>",
                          unnamed_layers_);
    }
  }

 private:
  const ImportContext& context_;
  SvpModels& models_;
  const RawFile& file_;
  std::string_view unit_;
  std::int64_t step_row_;
  std::int64_t first_task_id_;
  std::vector<std::int64_t> op_rows_;     // by layer id + 1; 0: not seen yet
  std::vector<std::int64_t> executions_;  // by op row
  std::int64_t unnamed_layers_ = 0;
};

}  // namespace msprof::svp
