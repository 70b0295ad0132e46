#include "export/table_writers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text.hpp"
#include "export/json_text.hpp"

namespace msprof {

void TableWriter::number(std::int64_t value) {
  const fmt::format_int digits(value);
  number(std::string_view(digits.data(), digits.size()));
}

void TableWriter::number_or_missing(const std::optional<std::string>& digits) {
  digits ? number(std::string_view(*digits)) : missing();
}

void TableWriter::number_or_missing(std::optional<std::int64_t> value) {
  value ? number(*value) : missing();
}

namespace {

// Bytes that a CSV cell may hold without quotes and that are UTF-8 by themselves.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t i = 0; i < 0x80; ++i) plain[i] = true;
  for (const char c : {',', '"', '\r', '\n'}) plain[static_cast<std::size_t>(c)] = false;
  return plain;
}();

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
  if (!first_cell_) {
    file_->buffer() += ',';
    return;
  }
  first_cell_ = false;
  if (rows_per_slice_ == 0 || rows_ < rows_per_slice_) return;
  file_ = &next_();
  rows_ = 0;
  write_header();
}

void CsvWriter::slice(std::uint64_t rows, std::function<AtomicFile&()> next) {
  rows_per_slice_ = rows;
  next_ = std::move(next);
}

void CsvWriter::begin(std::span<const std::string> columns) {
  columns_.assign(columns.begin(), columns.end());
  write_header();
}

void CsvWriter::write_header() {
  std::string& out = file_->buffer();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (i > 0) out += ',';
    append_csv_text(out, columns_[i]);
  }
  out += '\n';
}

void CsvWriter::text(std::string_view value) {
  separate();
  append_csv_text(file_->buffer(), value);
}

void CsvWriter::number(std::string_view digits) {
  separate();
  file_->buffer() += digits;
}

void CsvWriter::timestamp(std::string_view digits) {
  number(digits);
  file_->buffer() += '\t';
}

void CsvWriter::end_row() {
  file_->buffer() += '\n';
  file_->drain();
  first_cell_ = true;
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
  keys_ = json_table_keys(columns);
  file_.buffer() += '[';
}

void JsonTableWriter::key() {
  std::string& out = file_.buffer();
  if (column_ == 0) out += rows_++ == 0 ? "\n{" : ",\n{";
  if (column_ > 0) out += ',';
  out += keys_[column_++];
}

void JsonTableWriter::text(std::string_view value) {
  key();
  append_json_string(file_.buffer(), value);
}

void JsonTableWriter::number(std::string_view digits) {
  key();
  append_json_number(file_.buffer(), digits);
}

void JsonTableWriter::end_row() {
  while (column_ < keys_.size()) missing();
  file_.buffer() += '}';
  file_.drain();
  column_ = 0;
}

void JsonTableWriter::end() {
  file_.buffer() += rows_ == 0 ? "]\n" : "\n]\n";
}

void TableRows::begin(std::span<const std::string> names) {
  columns.assign(names.begin(), names.end());
}

void TableRows::end_row() {
  while (row_.size() < columns.size()) missing();
  rows.push_back(std::move(row_));
  row_.clear();
}

}  // namespace msprof
