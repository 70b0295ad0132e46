#include "base/cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/number.hpp"
#include "base/vendor_real.hpp"

namespace msprof {

namespace {

std::optional<double> parse_digits(std::string_view digits) {
  double value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return read.ec == std::errc() ? std::optional(value) : std::nullopt;
}

// Returns the value of the cell's digits without printing them; empty if only parsing can give it.
std::optional<double> number_as_read(const Cell& cell) {
  switch (cell.form) {
    case CellForm::integer:
      return static_cast<double>(cell.integer);
    case CellForm::us:
    case CellForm::us6:
      return us_as_read(cell.integer);
    case CellForm::real:
      return cell.real;
    case CellForm::fixed3:
    case CellForm::fixed3_trimmed:
      return fixed3_as_read(cell.real);
    case CellForm::sqlite_round3:
      return sqlite_round3_as_read(cell.real);
    case CellForm::missing:
    case CellForm::text:
    case CellForm::blob:
    case CellForm::digits:
      break;
  }
  return std::nullopt;
}

}  // namespace

void append_cell(std::string& out, const Cell& cell) {
  switch (cell.form) {
    case CellForm::missing:
      out.append("N/A", 3);
      break;
    case CellForm::text:
    case CellForm::digits:
      out.append(cell.bytes, cell.size);
      break;
    case CellForm::blob:
      for (const char byte : cell.view())
        fmt::format_to(std::back_inserter(out), "{:02X}", static_cast<unsigned char>(byte));
      break;
    case CellForm::integer: {
      const fmt::format_int digits(cell.integer);
      out.append(digits.data(), digits.size());
      break;
    }
    case CellForm::us:
      append_us_from_ns(out, cell.integer);
      break;
    case CellForm::us6:
      append_us_from_ns(out, cell.integer);
      out.append("000", 3);
      break;
    case CellForm::real:
      append_python_float(out, cell.real);
      break;
    case CellForm::fixed3:
      append_fixed3(out, cell.real);
      break;
    case CellForm::fixed3_trimmed:
      append_fixed3_trimmed(out, cell.real);
      break;
    case CellForm::sqlite_round3:
      append_sqlite_round3(out, cell.real);
      break;
  }
}

std::string cell_text(const Cell& cell) {
  std::string text;
  append_cell(text, cell);
  return text;
}

std::optional<double> cell_number(const Cell& cell) {
  if (!cell.is_number()) return std::nullopt;
  if (cell.form == CellForm::digits) return parse_digits(cell.view());
  const std::optional<double> value = number_as_read(cell);
  return value ? value : parse_digits(cell_text(cell));
}

void TextArena::clear() {
  if (chunks_.size() > 1) chunks_.erase(chunks_.begin(), chunks_.end() - 1);
  if (chunks_.empty()) return;
  at_ = chunks_.back().get();
  left_ = chunk_bytes_;
}

void TextArena::grow(std::size_t bytes) {
  constexpr std::size_t kLeast = 64;
  chunk_bytes_ = std::max({kLeast, 2 * chunk_bytes_, bytes});
  chunks_.push_back(std::make_unique_for_overwrite<char[]>(chunk_bytes_));
  at_ = chunks_.back().get();
  left_ = chunk_bytes_;
}

}  // namespace msprof
