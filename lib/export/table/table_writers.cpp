#include "export/table/table_writers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/json_text.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

// Bytes that are valid UTF-8 on their own and need no quotes in a CSV cell.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t i = 0; i < 0x80; ++i) plain[i] = true;
  for (const char c : {',', '"', '\r', '\n'}) plain[static_cast<unsigned char>(c)] = false;
  return plain;
}();

// Returns true for a text that spreadsheets evaluate when they open a CSV, quoted or not. A single
// dash is not one: it marks a missing value.
bool is_formula(std::string_view text) {
  constexpr std::string_view kStarts = "=+-@\t\r";
  return !text.empty() && text != "-" && kStarts.find(text.front()) != std::string_view::npos;
}

}  // namespace

void append_csv_text(std::string& out, std::string_view value) {
  if (std::all_of(value.begin(), value.end(),
                  [](char c) { return kPlain[static_cast<unsigned char>(c)]; })) {
    out += value;
    return;
  }
  const std::string repaired = is_valid_utf8(value) ? std::string() : valid_utf8(value);
  if (!repaired.empty()) value = repaired;
  if (value.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += value;
    return;
  }
  out += '"';
  for (const char c : value) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
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
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (i > 0) out += ',';
    append_text(out, columns_[i]);
  }
  out += '\n';
}

void CsvWriter::row(std::span<const Cell> cells) {
  if (rows_per_slice_ > 0 && rows_ == rows_per_slice_) {
    out_ = &next_();
    is_at_start_ = true;
    rows_ = 0;
    write_header();
  }
  std::string& out = out_->buffer();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out += ',';
    append(out, cells[i]);
  }
  out += '\n';
  out_->drain();
  ++rows_;
}

void CsvWriter::append(std::string& out, const Cell& cell) const {
  if (cell.form == CellForm::text) return append_text(out, cell.view());
  if (cell.form == CellForm::missing && absent_ == Absent::null) return;
  if (cell.form == CellForm::blob && cell.size == 0) return append_text(out, {});
  append_cell(out, cell);
  if (cell.is_time) out += '\t';
}

void CsvWriter::append_text(std::string& out, std::string_view value) const {
  if (value.empty() && absent_ == Absent::null) {
    out += "\"\"";
  } else if (is_for_excel_ && is_formula(value)) {
    append_csv_text(out, "'" + std::string(value));
  } else {
    append_csv_text(out, value);
  }
}

std::vector<std::string> json_table_keys(std::span<const std::string> columns) {
  std::vector<std::string> keys;
  std::map<std::string_view, int> times;
  for (const std::string& column : columns) {
    const int time = ++times[column];
    keys.push_back(json_string(time == 1 ? column : fmt::format("{} {}", column, time)) + ":");
  }
  return keys;
}

void JsonTableWriter::begin(std::span<const std::string> columns) {
  keys_.assign(columns.size(), "");
  if (form_ == Rows::objects) keys_ = json_table_keys(columns);
  out_.buffer() += '[';
}

void JsonTableWriter::row(std::span<const Cell> cells) {
  std::string& out = out_.buffer();
  out += rows_++ == 0 ? "\n" : ",\n";
  out += form_ == Rows::objects ? '{' : '[';
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (i > 0) out += ',';
    out += keys_[i];
    append(out, i < cells.size() ? cells[i] : Cell());
  }
  out += form_ == Rows::objects ? '}' : ']';
  out_.drain();
}

void JsonTableWriter::append(std::string& out, const Cell& cell) {
  // JSON has no infinity.
  const bool is_infinite = cell.form == CellForm::real && !std::isfinite(cell.real);
  if (cell.form == CellForm::text) return append_json_string(out, cell.view());
  if (cell.form == CellForm::missing || is_infinite) {
    out += absent_ == Absent::null ? "null" : "\"N/A\"";
    return;
  }
  digits_.clear();
  append_cell(digits_, cell);
  cell.is_number() && !cell.is_time ? append_json_number(out, digits_)
                                    : append_json_string(out, digits_);
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
    cell.text_id = 0;
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
