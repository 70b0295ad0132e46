#include "export/table/table_writers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "base/vendor_real.hpp"

namespace msprof {

namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

// Returns true for a text that spreadsheets evaluate when they open a CSV, quoted or not. A single
// dash is not one: it marks a missing value.
bool is_formula(std::string_view text) {
  constexpr std::string_view kStarts = "=+-@\t\r";
  return !text.empty() && text != "-" && kStarts.find(text.front()) != std::string_view::npos;
}

// Returns the size of the first `rows` rows of a CSV text that has more.
std::size_t size_of_rows(std::string_view csv, std::uint64_t rows) {
  bool is_quoted = false;
  std::size_t at = 0;
  while (rows > 0) {
    const char c = csv[at++];
    if (c == '"') is_quoted = !is_quoted;
    if (c == '\n' && !is_quoted) --rows;
  }
  return at;
}

// The text of rows that a writer formats.
class TextRows : public RowBlock {
 public:
  explicit TextRows(TableWriter& writer) : writer_(writer) {
    constexpr std::size_t kLongRow = 16 << 10;
    text_.reserve(kFullBytes + kLongRow);
  }

  void add(std::span<const Cell> cells) override {
    writer_.append_row(text_, cells);
    ++rows_;
  }
  std::size_t bytes() const override { return text_.size(); }
  void flush() override {
    writer_.write_rows(text_, rows_);
    text_.clear();
    rows_ = 0;
  }

 private:
  TableWriter& writer_;
  std::string text_;
  std::uint64_t rows_ = 0;
};

char* put_bytes(char* out, std::string_view bytes) {
  if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
  return out + bytes.size();
}

// Writes a text as a CSV cell, valid UTF-8 and quoted where RFC 4180 requires it, into a buffer of
// size_of_csv_text(). Returns the end.
char* put_csv_text(char* out, std::string_view value) {
  if (is_plain_cell(value)) return put_bytes(out, value);
  const std::string repaired = is_valid_utf8(value) ? std::string() : valid_utf8(value);
  if (!repaired.empty()) value = repaired;
  char* const start = out;
  bool is_quoted = false;
  *out++ = '"';
  for (const char c : value) {
    if (c == '"') *out++ = '"';
    is_quoted = is_quoted || c == '"' || c == ',' || c == '\r' || c == '\n';
    *out++ = c;
  }
  if (!is_quoted) return std::copy(start + 1, out, start);
  *out++ = '"';
  return out;
}

// An invalid byte becomes three bytes; quotes and an apostrophe are added.
constexpr std::size_t size_of_csv_text(std::size_t bytes) {
  return 3 * bytes + 3;
}

// Returns the text before each cell: the quoted key and the colon.
std::vector<std::string> json_table_keys(std::span<const std::string> columns) {
  std::vector<std::string> keys;
  std::map<std::string_view, int> times;
  for (const std::string& column : columns) {
    const int time = ++times[column];
    keys.push_back(json_string(time == 1 ? column : fmt::format("{} {}", column, time)) + ":");
  }
  return keys;
}

}  // namespace

std::unique_ptr<RowBlock> TableWriter::make_block() {
  return std::make_unique<TextRows>(*this);
}

void CsvWriter::slice(std::uint64_t rows, std::function<TextOutput&()> next) {
  rows_per_slice_ = rows;
  next_ = std::move(next);
}

void CsvWriter::begin(std::span<const std::string> columns) {
  columns_.assign(columns.begin(), columns.end());
  write_header();
}

void CsvWriter::write_header() {
  std::string& out = out_->buffer();
  if (is_for_excel_ && is_at_start_) out += kUtf8Mark;
  is_at_start_ = false;
  std::vector<Cell> names;
  for (const std::string& column : columns_) names.push_back(make_cell(CellForm::text, column));
  append_row(out, names);
}

void CsvWriter::start_slice() {
  out_ = &next_();
  is_at_start_ = true;
  rows_ = 0;
  write_header();
}

void CsvWriter::row(std::span<const Cell> cells) {
  if (rows_ == rows_per_slice_) start_slice();
  append_row(out_->buffer(), cells);
  out_->drain();
  ++rows_;
}

void CsvWriter::append_row(std::string& out, std::span<const Cell> cells) const {
  // Most rows fit: one append per row is faster than one per cell.
  char row[4096];
  char* at = row;
  for (const Cell& cell : cells) {
    const std::size_t most = cell.has_bytes() ? size_of_csv_text(cell.size) : kMaxRealBytes;
    if (most + sizeof ",\t" > static_cast<std::size_t>(std::end(row) - at)) {
      out.append(row, at);
      at = row;
    }
    if (most + sizeof ",\t" <= sizeof row) {
      at = put(at, cell);
    } else {
      std::string text(most, ' ');
      out.append(text.data(), put(text.data(), cell));
    }
    *at++ = ',';
  }
  if (!cells.empty()) --at;
  *at++ = '\n';
  out.append(row, at);
}

void CsvWriter::write_rows(std::string_view text, std::uint64_t rows) {
  while (rows_ + rows > rows_per_slice_) {
    const std::uint64_t fitting = rows_per_slice_ - rows_;
    const std::size_t size = size_of_rows(text, fitting);
    out_->write(text.substr(0, size));
    start_slice();
    text.remove_prefix(size);
    rows -= fitting;
  }
  out_->write(text);
  rows_ += rows;
}

// Writes the cell; a number may have a TAB.
char* CsvWriter::put(char* out, const Cell& cell) const {
  if (cell.is_plain && !is_for_excel_ && cell.size > 0) return put_bytes(out, cell.view());
  if (cell.form == CellForm::text) return put_text(out, cell.view());
  if (cell.form == CellForm::missing && absent_ == Absent::null) return out;
  if (cell.form == CellForm::blob) return put_text(out, cell_text(cell));
  out = cell.form == CellForm::digits ? put_bytes(out, cell.view()) : put_cell(out, cell);
  if (cell.is_time) *out++ = '\t';
  return out;
}

char* CsvWriter::put_text(char* out, std::string_view value) const {
  if (value.empty() && absent_ == Absent::null) return put_bytes(out, "\"\"");
  if (is_for_excel_ && is_formula(value)) return put_csv_text(out, "'" + std::string(value));
  return put_csv_text(out, value);
}

void JsonTableWriter::begin(std::span<const std::string> columns) {
  keys_.assign(columns.size(), "");
  if (form_ == Rows::objects) keys_ = json_table_keys(columns);
  for (std::size_t i = 1; i < keys_.size(); ++i) keys_[i].insert(0, 1, ',');
  out_.buffer() += '[';
}

void JsonTableWriter::row(std::span<const Cell> cells) {
  std::string& out = out_.buffer();
  const std::size_t at = out.size();
  append_row(out, cells);
  if (rows_++ == 0) out.erase(at, 1);
  out_.drain();
}

void JsonTableWriter::append_row(std::string& out, std::span<const Cell> cells) const {
  out += ",\n";
  out += form_ == Rows::objects ? '{' : '[';
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    out += keys_[i];
    append(out, i < cells.size() ? cells[i] : Cell());
  }
  out += form_ == Rows::objects ? '}' : ']';
}

void JsonTableWriter::write_rows(std::string_view text, std::uint64_t rows) {
  if (rows == 0) return;
  if (rows_ == 0) text.remove_prefix(1);  // the comma
  out_.write(text);
  rows_ += rows;
}

void JsonTableWriter::append(std::string& out, const Cell& cell) const {
  // JSON has no infinity.
  const bool is_infinite = cell.form == CellForm::real && !std::isfinite(cell.real);
  if (cell.is_plain) {
    out += '"';
    out += cell.view();
    out += '"';
    return;
  }
  if (cell.form == CellForm::text) return append_json_string(out, cell.view());
  if (cell.form == CellForm::missing || is_infinite) {
    out += absent_ == Absent::null ? "null" : "\"N/A\"";
    return;
  }
  const bool is_string = cell.is_time || !cell.is_number();
  if (is_string) out += '"';
  const std::size_t at = out.size();
  append_cell(out, cell);
  is_string ? void(out += '"') : quote_long_number(out, at);
}

void JsonTableWriter::end() {
  out_.buffer() += rows_ == 0 ? "]\n" : "\n]\n";
}

TableRows::Row::Row(std::span<const Cell> cells, std::size_t columns)
    : cells_(cells.begin(), cells.end()) {
  for (const Cell& cell : cells)
    if (cell.has_bytes()) texts_.insert(texts_.end(), cell.bytes, cell.bytes + cell.size);
  if (cells_.size() < columns) cells_.resize(columns);
  const char* at = texts_.data();
  for (Cell& cell : cells_) {
    if (cell.has_bytes()) {
      cell.bytes = at;
      at += cell.size;
    } else if (cell.form == CellForm::missing) {
      cell = make_cell(CellForm::text, "N/A");  // also on terminals
    }
  }
}

void TableRows::begin(std::span<const std::string> names) {
  columns.assign(names.begin(), names.end());
}

void TableRows::write(RowSink& out) const {
  out.begin(columns);
  for (const Row& row : rows) out.row(row.cells());
  out.end();
}

}  // namespace msprof
