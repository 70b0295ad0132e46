#include "base/row_sink.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace msprof {

void RowSink::number(std::int64_t value) {
  number_from([value] { return std::optional(static_cast<double>(value)); },
              [value](std::string& out) {
                const fmt::format_int digits(value);
                out.append(digits.data(), digits.size());
              });
}

void RowSink::number_or_missing(const std::optional<std::string>& digits) {
  digits ? number(std::string_view(*digits)) : missing();
}

void RowSink::number_or_missing(std::optional<std::int64_t> value) {
  value ? number(*value) : missing();
}

void RowSink::real(double value) {
  std::string digits = fmt::format("{}", value);
  if (std::isfinite(value) && digits.find_first_of(".e") == std::string::npos) digits += ".0";
  number(std::string_view(digits));
}

void RowSink::blob(std::string_view bytes) {
  std::string digits;
  digits.reserve(bytes.size() * 2);
  for (const char byte : bytes)
    fmt::format_to(std::back_inserter(digits), "{:02X}", static_cast<unsigned char>(byte));
  text(digits);
}

struct RowTee::Kept : SharedCells::Kept {
  std::string bytes;
  std::size_t cells = 0;
  std::unique_ptr<SharedCells::Kept> read;
};

void RowTee::begin(std::span<const std::string> columns) {
  writer_.begin(columns);
  reader_.begin(columns);
}

void RowTee::text(std::string_view value) {
  writer_.text(value);
  reader_.text(value);
}

bool RowTee::take_turn() {
  return !std::exchange(reader_has_it_, false);
}

void RowTee::number(std::string_view digits) {
  writer_.number(digits);
  if (take_turn()) reader_.number(digits);
}

void RowTee::real(double value) {
  writer_.real(value);
  reader_.real(value);
}

void RowTee::blob(std::string_view bytes) {
  writer_.blob(bytes);
  reader_.blob(bytes);
}

void RowTee::timestamp(std::string_view digits) {
  writer_.timestamp(digits);
  if (take_turn()) reader_.timestamp(digits);
}

void RowTee::missing() {
  writer_.missing();
  reader_.missing();
}

void RowTee::end_row() {
  writer_.end_row();
  reader_.end_row();
}

void RowTee::end() {
  writer_.end();
  reader_.end();
}

RowSink::CellFormat RowTee::next_cell_format() {
  const CellFormat read = reader_.next_cell_format();
  reader_has_it_ = read == CellFormat::nothing;
  return read == CellFormat::value ? CellFormat::both : CellFormat::digits;
}

void RowTee::take_number(double value) {
  reader_.take_number(value);
  reader_has_it_ = true;
}

std::string* RowTee::begin_number() {
  if (!reader_has_it_) return nullptr;
  std::string* const out = writer_.begin_number();
  if (out != nullptr) reader_has_it_ = false;
  return out;
}

std::unique_ptr<SharedCells::Kept> RowTee::keep_last(std::size_t cells) {
  auto kept = std::make_unique<Kept>();
  kept->read = reader_.keep_last(cells);
  if (kept->read == nullptr) return nullptr;
  kept->bytes.assign(*writer_.output(), kept_from_);
  kept->cells = cells;
  return kept;
}

void RowTee::copy_kept(SharedCells::Kept& kept) {
  auto& own = static_cast<Kept&>(kept);
  writer_.output()->append(own.bytes);
  writer_.skip(own.cells);
  reader_.copy_kept(*own.read);
}

}  // namespace msprof
