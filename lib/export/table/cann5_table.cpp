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

enum class CellForm { kept, excluded, in_bytes, in_ns };

template <std::size_t kCount>
const Rename* find(const std::array<Rename, kCount>& renames, std::string_view name) {
  for (const Rename& rename : renames) {
    if (rename.now == name) return &rename;
  }
  return nullptr;
}

CellForm find_cell_form(std::string_view column) {
  if (std::find(kNewColumns.begin(), kNewColumns.end(), column) != kNewColumns.end())
    return CellForm::excluded;
  if (find(kInNs, column) != nullptr) return CellForm::in_ns;
  return find(kInBytes, column) != nullptr ? CellForm::in_bytes : CellForm::kept;
}

std::vector<std::string> old_columns(const std::vector<std::string>& columns) {
  std::vector<std::string> old;
  for (const std::string& column : columns) {
    if (find_cell_form(column) == CellForm::excluded) continue;
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

// Converts us with three decimals, the form in which times are printed, to ns.
std::string us_to_ns(std::string_view us) {
  std::string ns;
  for (const char c : us) {
    if ((c >= '0' && c <= '9') || c == '-') ns += c;
  }
  return ns;
}

// Receives the cells of the table and passes on those of CANN 5's columns.
class OldColumns : public RowSink {
 public:
  OldColumns(RowSink& out, const std::vector<std::string>& columns) : out_(out) {
    for (const std::string& column : columns) cells_.push_back(find_cell_form(column));
  }

  using RowSink::number;
  void begin(std::span<const std::string>) override {}
  void text(std::string_view value) override {
    if (next() != CellForm::excluded) out_.text(value);
  }
  void number(std::string_view digits) override {
    const CellForm cell = next();
    if (cell == CellForm::in_bytes) return out_.number(to_bytes(digits));
    if (cell != CellForm::excluded) out_.number(digits);
  }
  void timestamp(std::string_view digits) override {
    const CellForm cell = next();
    if (cell == CellForm::in_ns) return out_.number(us_to_ns(digits));
    if (cell != CellForm::excluded) out_.timestamp(digits);
  }
  void end_row() override {
    at_ = 0;
    out_.end_row();
  }
  void end() override {}

 private:
  CellForm next() { return at_ < cells_.size() ? cells_[at_++] : CellForm::kept; }

  RowSink& out_;
  std::vector<CellForm> cells_;
  std::size_t at_ = 0;  // index of the next column
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
  void write(const Database& db, const OutputFile& output_file, RowSink& out) const override {
    OldColumns old(out, table_->columns(db));
    table_->write(db, output_file, old);
  }

 private:
  std::unique_ptr<SummaryTable> table_;
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann5_table(std::unique_ptr<SummaryTable> table) {
  return std::make_unique<Cann5Table>(std::move(table));
}

}  // namespace msprof
