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

void CsvWriter::separate() {
  if (!is_first_cell_) {
    out_->buffer() += ',';
    return;
  }
  is_first_cell_ = false;
  if (rows_per_slice_ == 0 || rows_ < rows_per_slice_) return;
  out_ = &next_();
  is_at_start_ = true;
  rows_ = 0;
  write_header();
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
    append_text(columns_[i]);
  }
  out += '\n';
}

void CsvWriter::text(std::string_view value) {
  separate();
  append_text(value);
}

void CsvWriter::append_text(std::string_view value) {
  if (value.empty() && absent_ == Absent::null) {
    out_->buffer() += "\"\"";
  } else if (is_for_excel_ && is_formula(value)) {
    append_csv_text(out_->buffer(), "'" + std::string(value));
  } else {
    append_csv_text(out_->buffer(), value);
  }
}

void CsvWriter::missing() {
  absent_ == Absent::null ? separate() : text("N/A");
}

void CsvWriter::number(std::string_view digits) {
  separate();
  out_->buffer() += digits;
}

void CsvWriter::timestamp(std::string_view digits) {
  number(digits);
  out_->buffer() += '\t';
}

void CsvWriter::end_row() {
  out_->buffer() += '\n';
  out_->drain();
  is_first_cell_ = true;
  ++rows_;
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

void JsonTableWriter::key() {
  std::string& out = out_.buffer();
  if (column_ == 0) {
    out += rows_++ == 0 ? "\n" : ",\n";
    out += form_ == Rows::objects ? '{' : '[';
  }
  if (column_ > 0) out += ',';
  out += keys_[column_++];
}

void JsonTableWriter::text(std::string_view value) {
  key();
  append_json_string(out_.buffer(), value);
}

void JsonTableWriter::number(std::string_view digits) {
  key();
  append_json_number(out_.buffer(), digits);
}

void JsonTableWriter::real(double value) {
  std::isfinite(value) ? RowSink::real(value) : missing();
}

void JsonTableWriter::missing() {
  if (absent_ == Absent::not_available) return text("N/A");
  key();
  out_.buffer() += "null";
}

void JsonTableWriter::end_row() {
  while (column_ < keys_.size()) missing();
  out_.buffer() += form_ == Rows::objects ? '}' : ']';
  out_.drain();
  column_ = 0;
}

void JsonTableWriter::end() {
  out_.buffer() += rows_ == 0 ? "]\n" : "\n]\n";
}

void TableRows::begin(std::span<const std::string> names) {
  columns.assign(names.begin(), names.end());
}

void TableRows::end_row() {
  while (row_.size() < columns.size()) missing();
  rows.push_back(std::move(row_));
  row_.clear();
}

void TableRows::write(RowSink& out) const {
  out.begin(columns);
  for (const auto& row : rows) {
    for (const Cell& cell : row) {
      if (cell.is_time) {
        out.timestamp(cell.text);
      } else {
        cell.is_number ? out.number(cell.text) : out.text(cell.text);
      }
    }
    out.end_row();
  }
  out.end();
}

}  // namespace msprof
