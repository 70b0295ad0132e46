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

char* put_cell(char* out, const Cell& cell) {
  switch (cell.form) {
    case CellForm::missing:
      std::memcpy(out, "N/A", 3);
      return out + 3;
    case CellForm::integer:
      return std::to_chars(out, out + kMaxRealBytes, cell.integer).ptr;
    case CellForm::us:
      return put_us_from_ns(out, cell.integer);
    case CellForm::us6:
      out = put_us_from_ns(out, cell.integer);
      std::memcpy(out, "000", 3);
      return out + 3;
    case CellForm::real:
      return put_python_float(out, cell.real);
    case CellForm::fixed3:
      return put_fixed3(out, cell.real);
    case CellForm::fixed3_trimmed:
      return put_fixed3_trimmed(out, cell.real);
    case CellForm::sqlite_round3:
      return put_sqlite_round3(out, cell.real);
    case CellForm::text:
    case CellForm::blob:
    case CellForm::digits:
      break;
  }
  return out;
}

void append_cell(std::string& out, const Cell& cell) {
  if (!cell.has_bytes()) {
    char text[kMaxRealBytes];
    out.append(text, put_cell(text, cell));
  } else if (cell.form == CellForm::blob) {
    for (const char byte : cell.view())
      fmt::format_to(std::back_inserter(out), "{:02X}", static_cast<unsigned char>(byte));
  } else {
    out += cell.view();
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
