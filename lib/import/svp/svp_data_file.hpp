// Opens an aicore, aicpu or acl_api file with its layout, or reports why it is not read. Source:
// svp_job.md 4 (.done), 6 (boards), 7 (reference layout).
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/file_reader.hpp"
#include "import/raw_kind.hpp"
#include "import/svp/svp_models.hpp"
#include "session/svp_session.hpp"

namespace msprof::svp {

// Header of 16 bytes: "MSVP", version 1 (u16), record size (u16), kind (u32), 0 (u32). Source:
// svp_job.md 7.1.
inline constexpr std::size_t kReferenceHeaderBytes = 16;
inline constexpr std::uint16_t kReferenceVersion = 1;
enum class ReferenceKind : std::uint32_t { aicore = 1, aicpu = 2, acl_api = 3 };
struct ReferenceHeader {
  bool is_whole = false;  // false: truncated
  std::uint16_t version = 0;
  std::uint16_t record_bytes = 0;
  std::uint32_t kind = 0;
};
// Reads the start of a file; nullopt if it has another layout.
std::optional<ReferenceHeader> read_reference_header(std::span<const std::byte> bytes);

// Indexes into kAicoreFields, kAicpuFields and kAclApiFields.
enum CoreSlot : std::size_t {
  kCoreLayerId,
  kCoreStart,
  kCoreTotalCycles,
  kCoreFirstUnit,
  kCoreDdrRead = 11,
  kCoreDdrWrite,
  kCoreExecution,
  kCoreEnd,
  kCoreDuration
};
enum CpuSlot : std::size_t {
  kCpuLayerId,
  kCpuThreadId,
  kCpuStart,
  kCpuEnd,
  kCpuExecution,
  kCpuDuration
};
enum CallSlot : std::size_t { kCallApiId, kCallThreadId, kCallStart, kCallEnd, kCallDuration };

// Offset of a record's start time. It is never 0, and the host runtime stores it last.
inline constexpr std::size_t kReferenceStartOffset = 8;

struct SvpDataFile {
  FileReader reader;  // positioned at the first record
  const RecordLayout* layout;
  std::uint64_t first_offset;  // offset of the first record in the file
  std::uint64_t record_bytes;  // may be larger than the layout's
  bool has_reference_header;   // false: the layout is from the user
  bool has_space;              // preallocated space may follow the last record
};

// Checks the `.done` file first. Returns nullopt, with a finding, if there is nothing to read or
// the layout is unknown.
std::optional<SvpDataFile> open_data_file(const ImportContext& context, const RawFile& file,
                                          SvpFileKind kind, ReferenceKind reference_kind);

void report_trailing(const ImportContext& context, const RawFile& file, SvpFileKind kind,
                     std::uint64_t trailing_bytes, std::uint64_t file_bytes);

// Returns true if the writer has not completed the record.
bool is_unwritten(std::span<const std::byte> record);

// Visits records of executions that have headers. Returns the bytes of an incomplete record or
// header at the end.
template <typename Visit>
std::uint64_t for_each_record_of_executions(SvpDataFile& data, Visit& visit) {
  constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 18;
  const RecordLayout& layout = *data.layout;
  const std::uint64_t size = data.record_bytes;
  std::vector<std::byte> header(layout.executions->header_bytes);
  std::vector<std::byte> chunk;
  std::uint64_t offset = data.first_offset;
  while (true) {
    const std::size_t got = data.reader.read(header);
    if (got < header.size()) return got;
    offset += got;
    for (std::uint64_t left = layout.records_after(header); left > 0;) {
      const std::uint64_t count = std::min(left, std::max<std::uint64_t>(1, kChunkBytes / size));
      chunk.resize(static_cast<std::size_t>(count * size));
      const std::size_t bytes = data.reader.read(chunk);
      for (std::size_t at = 0; at + size <= bytes; at += size)
        visit(std::span<const std::byte>(chunk).subspan(at, size), offset + at);
      if (bytes < chunk.size()) return bytes % size;
      offset += bytes;
      left -= count;
    }
  }
}

// Skips preallocated records that were not filled because the application was killed.
template <typename Visit>
std::uint64_t for_each_written_record(SvpDataFile& data, Visit&& visit) {
  if (data.layout->executions) return for_each_record_of_executions(data, visit);
  if (!data.has_space)
    return for_each_record(data.reader, data.first_offset, data.record_bytes, visit);
  return for_each_record(data.reader, data.first_offset, data.record_bytes,
                         [&visit](auto record, std::uint64_t offset) {
                           if (!is_unwritten(record)) visit(record, offset);
                         });
}

// Sets the end of a record that has a duration instead.
void add_end(std::int64_t start_ns, std::int64_t duration_ns, std::int64_t& end_ns);

// Returns why a time span is impossible. Empty if it is possible or if a time is absent.
std::string_view why_impossible_span(std::int64_t start_ns, std::int64_t end_ns);

// Shared by aicore and aicpu files: operators of records, executions, and the range of task ids.
class TaskRun {
 public:
  TaskRun(const ImportContext& context, SvpModels& models, const RawFile& file,
          std::string_view unit)
      : context_(context),
        models_(models),
        file_(file),
        unit_(unit),
        step_row_(models.step_row(models.parsed_name(file))),
        first_task_id_(models.last_task_id() + 1) {}

  // Returns the row of the operator with this layer id; kNull if the layout has no layer id.
  std::int64_t op_row(std::int64_t layer_id) {
    const std::size_t index = layer_id == kNull ? 0 : static_cast<std::size_t>(layer_id) + 1;
    if (index >= op_rows_.size()) op_rows_.resize(index + 1, 0);
    if (op_rows_[index] == 0) {
      bool named = false;
      op_rows_[index] = models_.op_row(models_.parsed_name(file_), layer_id, unit_, named);
      if (!named) ++unnamed_layers_;
    }
    return op_rows_[index];
  }

  // Returns the execution number for layouts without it: how often the operator was seen before.
  std::int64_t count_execution(std::int64_t op) {
    const auto index = static_cast<std::size_t>(op);
    if (index >= executions_.size()) executions_.resize(index + 1, 0);
    return executions_[index]++;
  }

  std::int64_t step_row() const { return step_row_; }

  // Writes the task run and reports findings about the whole file.
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
