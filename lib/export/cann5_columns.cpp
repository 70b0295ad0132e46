// make_cann5_table: a table of today under the columns of CANN 5.
// Source: cann_device.md 24: no Device_id (a file is about one device), Block Dim for Block Num, no
// unit behind points in time, fusion_op in bytes.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "export/products.hpp"

namespace msprof {

namespace {

constexpr std::string_view kDeviceColumn = "Device_id";

struct Rename {
  std::string_view now;
  std::string_view then;
};
constexpr std::array kRenames = {
    Rename{"Block Num", "Block Dim"},
    Rename{"Mix Block Num", "Mix Block Dim"},
    Rename{"Task Start Time(us)", "Task Start Time"},
    Rename{"task_start(us)", "task_start"},
    Rename{"task_stop(us)", "task_stop"},
    Rename{"FP Start(us)", "FP Start"},
    Rename{"BP End(us)", "BP End"},
    Rename{"Iteration End(us)", "Iteration End"},
    Rename{"Reduce Start(us)", "Reduce Start"},
};
// Columns in KB of today, in bytes then.
constexpr std::array kInBytes = {
    Rename{"Memory Input(KB)", "Memory Input(Bytes)"},
    Rename{"Memory Output(KB)", "Memory Output(Bytes)"},
    Rename{"Memory Weight(KB)", "Memory Weight(Bytes)"},
    Rename{"Memory Workspace(KB)", "Memory Workspace(Bytes)"},
    Rename{"Memory Total(KB)", "Memory Total(Bytes)"},
};

enum class Cell { kept, left_out, in_bytes };

template <std::size_t kCount>
const Rename* find(const std::array<Rename, kCount>& renames, std::string_view name) {
  for (const Rename& rename : renames) {
    if (rename.now == name) return &rename;
  }
  return nullptr;
}

Cell cell_of(std::string_view column) {
  if (column == kDeviceColumn) return Cell::left_out;
  return find(kInBytes, column) != nullptr ? Cell::in_bytes : Cell::kept;
}

// The columns with the names of then.
std::vector<std::string> old_columns(const std::vector<std::string>& columns) {
  std::vector<std::string> old;
  for (const std::string& column : columns) {
    if (cell_of(column) == Cell::left_out) continue;
    const Rename* rename = find(kRenames, column);
    if (rename == nullptr) rename = find(kInBytes, column);
    old.emplace_back(rename == nullptr ? std::string_view(column) : rename->then);
  }
  return old;
}

// KB with all their digits, which is how fusion_op prints them, as the bytes they came from.
std::string bytes_of(std::string_view kilobytes) {
  double value = 0;
  const auto read = std::from_chars(kilobytes.data(), kilobytes.data() + kilobytes.size(), value);
  if (read.ec != std::errc() || std::abs(value) > 1e15) return std::string(kilobytes);
  return fmt::format("{}", std::llround(value * 1024));
}

// Takes the cells of the table and hands on those of the columns of then.
class OldColumns : public TableWriter {
 public:
  OldColumns(TableWriter& out, const std::vector<std::string>& columns) : out_(out) {
    for (const std::string& column : columns) cells_.push_back(cell_of(column));
  }

  using TableWriter::number;
  void begin(std::span<const std::string>) override {}
  void text(std::string_view value) override {
    if (next() != Cell::left_out) out_.text(value);
  }
  void number(std::string_view digits) override {
    const Cell cell = next();
    if (cell == Cell::in_bytes) return out_.number(bytes_of(digits));
    if (cell != Cell::left_out) out_.number(digits);
  }
  void timestamp(std::string_view digits) override {
    if (next() != Cell::left_out) out_.timestamp(digits);
  }
  void end_row() override {
    at_ = 0;
    out_.end_row();
  }
  void end() override {}

 private:
  Cell next() { return at_ < cells_.size() ? cells_[at_++] : Cell::kept; }

  TableWriter& out_;
  std::vector<Cell> cells_;
  std::size_t at_ = 0;  // the column that comes next
};

class Cann5Table : public SummaryTable {
 public:
  explicit Cann5Table(std::unique_ptr<SummaryTable> table)
      : SummaryTable(table->info()), table_(std::move(table)) {}

  std::vector<std::string> columns(const Database& db) const override {
    return old_columns(table_->columns(db));
  }
  std::vector<Document> documents(const Database& db) const override {
    return table_->documents(db);
  }
  void write(const Database& db, const Document& document, TableWriter& out) const override {
    OldColumns old(out, table_->columns(db));
    table_->write(db, document, old);
  }

 private:
  std::unique_ptr<SummaryTable> table_;
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann5_table(std::unique_ptr<SummaryTable> table) {
  return std::make_unique<Cann5Table>(std::move(table));
}

}  // namespace msprof
