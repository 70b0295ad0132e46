#include "export/table_writers.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "export/json_text.hpp"

namespace msprof {

void TableWriter::number(std::int64_t value) {
  number(std::string_view(fmt::format_int(value).c_str()));
}

void TableWriter::number_or_missing(const std::optional<std::string>& digits) {
  digits ? number(std::string_view(*digits)) : missing();
}

void TableWriter::number_or_missing(std::optional<std::int64_t> value) {
  value ? number(*value) : missing();
}

void CsvWriter::separate() {
  if (!first_cell_) file_.buffer() += ',';
  first_cell_ = false;
}

void CsvWriter::begin(std::span<const std::string_view> columns) {
  for (const auto column : columns) text(column);
  end_row();
}

void CsvWriter::text(std::string_view value) {
  separate();
  std::string& out = file_.buffer();
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

void CsvWriter::number(std::string_view digits) {
  separate();
  file_.buffer() += digits;
}

void CsvWriter::end_row() {
  file_.buffer() += '\n';
  file_.drain();
  first_cell_ = true;
}

void JsonTableWriter::begin(std::span<const std::string_view> columns) {
  for (const auto column : columns) keys_.push_back(json_string(column) + ":");
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
  file_.buffer() += digits;
}

void JsonTableWriter::end_row() {
  file_.buffer() += '}';
  file_.drain();
  column_ = 0;
}

void JsonTableWriter::end() {
  file_.buffer() += rows_ == 0 ? "]\n" : "\n]\n";
}

void TableRows::begin(std::span<const std::string_view> names) {
  columns.assign(names.begin(), names.end());
}

void TableRows::end_row() {
  rows.push_back(std::move(row_));
  row_.clear();
}

}  // namespace msprof
