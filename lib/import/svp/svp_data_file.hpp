// An aicore, aicpu or acl_api file opened with the layout that it has, or reported and left alone.
// For those three kinds. Source: svp_job.md 4 (.done), 6 (boards), 7 (reference layout).
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/file_reader.hpp"
#include "import/raw_kind.hpp"
#include "import/svp/svp_models.hpp"
#include "session/svp_session.hpp"

namespace msprof::svp {

// Contents of the header: 16 bytes, "MSVP", version 1 (u16), record size (u16), kind (u32), 0
// (u32). Source: svp_job.md 7.1.
inline constexpr std::uint32_t kReferenceMagic = 0x5056534d;
enum class ReferenceKind : std::uint32_t { aicore = 1, aicpu = 2, acl_api = 3 };

// The start of a record, which no record has as 0 and which the host runtime stores last.
inline constexpr std::size_t kReferenceStartOffset = 8;

struct SvpDataFile {
  FileReader reader;  // at the first record
  const RecordLayout* layout;
  std::uint64_t first_offset;  // of the first record in the file
  std::uint64_t record_bytes;  // may be larger than the layout's
  bool has_reference_header;   // false: a layout that the user described
  bool has_space;              // its writer may have left room behind the last record
};

// Checks the `.done` first. Empty, with a finding, when there is nothing to read or the layout is
// unknown.
std::optional<SvpDataFile> open_data_file(const ImportContext& context, const RawFile& file,
                                          FileKind kind, ReferenceKind reference_kind);

// Counts the bytes behind the last whole record.
void report_trailing(const ImportContext& context, const RawFile& file, FileKind kind,
                     std::uint64_t trailing_bytes, std::uint64_t file_bytes);

// True for room that the writer did not fill, or not to the end.
bool is_unwritten(std::span<const std::byte> record);

// Room for records that an application did not fill before it was killed is none of them.
template <typename Visit>
std::uint64_t for_each_record_of(SvpDataFile& data, Visit&& visit) {
  if (!data.has_space)
    return for_each_record(data.reader, data.first_offset, data.record_bytes, visit);
  return for_each_record(data.reader, data.first_offset, data.record_bytes,
                         [&visit](auto record, std::uint64_t offset) {
                           if (!is_unwritten(record)) visit(record, offset);
                         });
}

// Reason why a span cannot be true; empty when it can, or when the layout does not give both ends.
std::string_view why_impossible_span(std::int64_t start_ns, std::int64_t end_ns);

// Reader parts that aicore and aicpu files share: operators of records, executions, the run of task
// ids.
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

  // Execution of a record whose layout does not give it: the number of times the operator was seen
  // before.
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
