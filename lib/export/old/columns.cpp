#include "export/old/columns.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "export/summary_table.hpp"

namespace msprof::old {

namespace {

enum class OldForm { kept, excluded, in_bytes, in_ns };

// A current column and its names in CANN 8.0 to 8.5 and in CANN 5; empty: the same.
struct OldColumn {
  std::string_view now;
  std::string_view cann8;
  std::string_view cann5;
  OldForm form = OldForm::kept;  // of the cells of CANN 5
};
constexpr OldColumn kColumns[] = {
    {"Block Num", "Block Dim", "Block Dim"},
    {"Mix Block Num", "Mix Block Dim", "Mix Block Dim"},
    {"Device_id", "", "", OldForm::excluded},
    {"domain", "", "", OldForm::excluded},
    {"Device Start_time(us)", "", "", OldForm::excluded},
    {"Device End_time(us)", "", "", OldForm::excluded},
    {"Task Start Time(us)", "", "Task Start Time"},
    {"task_start(us)", "", "task_start"},
    {"task_stop(us)", "", "task_stop"},
    {"FP Start(us)", "", "FP Start"},
    {"BP End(us)", "", "BP End"},
    {"Iteration End(us)", "", "Iteration End"},
    {"Reduce Start(us)", "", "Reduce Start"},
    {"Memory Input(KB)", "", "Memory Input(Bytes)", OldForm::in_bytes},
    {"Memory Output(KB)", "", "Memory Output(Bytes)", OldForm::in_bytes},
    {"Memory Weight(KB)", "", "Memory Weight(Bytes)", OldForm::in_bytes},
    {"Memory Workspace(KB)", "", "Memory Workspace(Bytes)", OldForm::in_bytes},
    {"Memory Total(KB)", "", "Memory Total(Bytes)", OldForm::in_bytes},
    {"Start_time(us)", "", "Start_time(ns)", OldForm::in_ns},
    {"End_time(us)", "", "End_time(ns)", OldForm::in_ns},
};

OldColumn find_column(std::string_view name) {
  for (const OldColumn& column : kColumns) {
    if (column.now == name) return column;
  }
  return {};
}

std::vector<std::string> old_columns(const std::vector<std::string>& columns) {
  std::vector<std::string> old;
  for (const std::string& name : columns) {
    const OldColumn column = find_column(name);
    if (column.form == OldForm::excluded) continue;
    old.emplace_back(column.cann5.empty() ? name : column.cann5);
  }
  return old;
}

// Converts KB to bytes. fusion_op prints KB with all digits, so the result is exact.
std::string to_bytes(std::string_view kilobytes) {
  double value = 0;
  const auto read = std::from_chars(kilobytes.data(), kilobytes.data() + kilobytes.size(), value);
  if (read.ec != std::errc() || std::abs(value) > 1e15) return std::string(kilobytes);
  return fmt::format("{}", std::llround(value * 1024));
}

// Receives the rows of the table and passes on the cells of CANN 5's columns.
class OldColumns : public RowSink {
 public:
  OldColumns(RowBuilder& out, const std::vector<std::string>& columns) : out_(out) {
    for (const std::string& column : columns) forms_.push_back(find_column(column).form);
  }

  void begin(std::span<const std::string>) override {}
  void row(std::span<const Cell> cells) override {
    for (std::size_t i = 0; i < cells.size(); ++i)
      add(cells[i], i < forms_.size() ? forms_[i] : OldForm::kept);
    out_.end_row();
  }

 private:
  void add(const Cell& cell, OldForm form) {
    if (form == OldForm::excluded) return;
    if (form == OldForm::in_bytes && cell.is_number())
      return out_.number(to_bytes(cell_text(cell)));
    if (form == OldForm::in_ns && cell.form == CellForm::us) return out_.number(cell.integer);
    out_.share({&cell, 1});
  }

  RowBuilder& out_;
  std::vector<OldForm> forms_;
};

// Tables of CANN 5 differ from the current ones (cann_device.md 24): no Device_id, because a file
// covers one device; Block Dim instead of Block Num; no unit in the names of time columns;
// fusion_op in bytes; msprof_tx in ns, without domains and devices.
class Cann5Table : public SummaryTable {
 public:
  explicit Cann5Table(std::unique_ptr<SummaryTable> table)
      : SummaryTable(table->info()), table_(std::move(table)) {}

  std::vector<std::string> columns(const Database& db) const override {
    return old_columns(table_->columns(db));
  }
  std::vector<OutputFile> output_files(const Database& db) const override {
    return table_->output_files(db);
  }
  void visit_files(const Database& db, const FileVisitor& visit) const override {
    table_->visit_files(db, visit);
  }
  std::vector<TableChunk> chunks(const Database& db, const OutputFile& output_file) const override {
    std::vector<TableChunk> chunks = table_->chunks(db, output_file);
    for (TableChunk& chunk : chunks) {
      chunk = [write = std::move(chunk), columns = table_->columns(db)](const Database& own,
                                                                        RowBuilder& out) {
        OldColumns old(out, columns);
        RowBuilder rows(old);
        write(own, rows);
      };
    }
    return chunks;
  }

 private:
  std::unique_ptr<SummaryTable> table_;
};

}  // namespace

std::string_view cann8_column(std::string_view column) {
  const OldColumn known = find_column(column);
  return known.cann8.empty() ? column : known.cann8;
}

std::unique_ptr<SummaryTable> make_cann5_table(std::unique_ptr<SummaryTable> table) {
  return std::make_unique<Cann5Table>(std::move(table));
}

}  // namespace msprof::old
