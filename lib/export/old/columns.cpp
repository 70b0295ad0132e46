// Tables in the style of CANN 5 and older, which differ from the current ones (cann_device.md 24):
// no Device_id, because a file covers one device; Block Dim instead of Block Num; no unit in the
// names of time columns; fusion_op in bytes; msprof_tx in ns, without domains and devices.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "export/products.hpp"
#include "export/table/summary_file.hpp"

namespace msprof {

namespace {

// Columns that CANN 5 does not have.
constexpr std::array<std::string_view, 4> kNewColumns = {
    "Device_id", "domain", "Device Start_time(us)", "Device End_time(us)"};

struct Rename {
  std::string_view now;
  std::string_view then;
};
constexpr std::array kRenames = {
    Rename{"Task Start Time(us)", "Task Start Time"},
    Rename{"task_start(us)", "task_start"},
    Rename{"task_stop(us)", "task_stop"},
    Rename{"FP Start(us)", "FP Start"},
    Rename{"BP End(us)", "BP End"},
    Rename{"Iteration End(us)", "Iteration End"},
    Rename{"Reduce Start(us)", "Reduce Start"},
};
// Columns in KB now, in bytes in CANN 5.
constexpr std::array kInBytes = {
    Rename{"Memory Input(KB)", "Memory Input(Bytes)"},
    Rename{"Memory Output(KB)", "Memory Output(Bytes)"},
    Rename{"Memory Weight(KB)", "Memory Weight(Bytes)"},
    Rename{"Memory Workspace(KB)", "Memory Workspace(Bytes)"},
    Rename{"Memory Total(KB)", "Memory Total(Bytes)"},
};

// Times in us now, in ns in CANN 5.
constexpr std::array kInNs = {
    Rename{"Start_time(us)", "Start_time(ns)"},
    Rename{"End_time(us)", "End_time(ns)"},
};

enum class OldForm { kept, excluded, in_bytes, in_ns };

template <std::size_t kCount>
const Rename* find(const std::array<Rename, kCount>& renames, std::string_view name) {
  for (const Rename& rename : renames) {
    if (rename.now == name) return &rename;
  }
  return nullptr;
}

OldForm find_old_form(std::string_view column) {
  if (std::find(kNewColumns.begin(), kNewColumns.end(), column) != kNewColumns.end())
    return OldForm::excluded;
  if (find(kInNs, column) != nullptr) return OldForm::in_ns;
  return find(kInBytes, column) != nullptr ? OldForm::in_bytes : OldForm::kept;
}

std::vector<std::string> old_columns(const std::vector<std::string>& columns) {
  std::vector<std::string> old;
  for (const std::string& column : columns) {
    if (find_old_form(column) == OldForm::excluded) continue;
    const Rename* rename = find(kRenames, column);
    if (rename == nullptr) rename = find(kInBytes, column);
    if (rename == nullptr) rename = find(kInNs, column);
    old.emplace_back(rename == nullptr ? cann8_column(column) : rename->then);
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
    for (const std::string& column : columns) forms_.push_back(find_old_form(column));
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
    out_.copy(cell);
  }

  RowBuilder& out_;
  std::vector<OldForm> forms_;
};

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
  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    OldColumns old(out, table_->columns(db));
    RowBuilder rows(old);
    table_->write(db, output_file, rows);
  }

 private:
  std::unique_ptr<SummaryTable> table_;
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann5_table(std::unique_ptr<SummaryTable> table) {
  return std::make_unique<Cann5Table>(std::move(table));
}

}  // namespace msprof
