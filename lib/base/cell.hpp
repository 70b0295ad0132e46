// Cell: one typed value of a table row, with the form in which products print it. For tables, which
// make rows of cells, and for everything that reads rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

enum class CellForm : std::uint8_t {
  missing,
  text,
  blob,  // printed as hexadecimal digits
  // Numbers.
  digits,          // ready decimal digits, printed unchanged
  integer,         // plain digits
  us,              // ns, printed as us with three decimals
  us6,             // ns, printed as us with six decimals
  real,            // shortest digits that read back as the same value, always as a real: 3.0
  fixed3,          // as append_fixed3()
  fixed3_trimmed,  // as append_fixed3_trimmed()
  sqlite_round3,   // as append_sqlite_round3()
};

// Few enough to be indexes into a vector.
inline constexpr std::uint32_t kTextIds = 1 << 20;

struct Cell {
  CellForm form = CellForm::missing;
  // A time with more digits than a double holds: CSV appends a TAB, so that spreadsheets do not
  // round it, and JSON writes a string.
  bool is_time = false;
  bool is_plain = false;  // a text that is known to need neither quotes in CSV nor escapes in JSON
  // Below kTextIds. Cells of one store with the same id, which is not 0, have the same text; the
  // same text may have several ids. Texts are valid until the row ends.
  std::uint32_t text_id = 0;
  std::uint32_t size = 0;  // bytes of the text
  union {
    const char* bytes = nullptr;
    std::int64_t integer;
    double real;
  };

  bool is_number() const { return form >= CellForm::digits; }
  bool has_bytes() const {
    return form == CellForm::text || form == CellForm::blob || form == CellForm::digits;
  }
  // Only for cells that have bytes.
  std::string_view view() const { return {bytes, size}; }
  // Returns a number below kTextIds by which caches find the text; empty if there is none.
  std::optional<std::uint32_t> text_key() const {
    if (form == CellForm::missing) return 0;
    return text_id == 0 ? std::nullopt : std::optional(text_id);
  }
};

inline Cell make_cell(CellForm form, std::string_view bytes) {
  Cell cell;
  cell.form = form;
  cell.size = static_cast<std::uint32_t>(bytes.size());
  cell.bytes = bytes.data();
  return cell;
}

inline Cell make_cell(CellForm form, std::int64_t value) {
  Cell cell;
  cell.form = form;
  cell.integer = value;
  return cell;
}

inline Cell make_cell(CellForm form, double value) {
  Cell cell;
  cell.form = form;
  cell.real = value;
  return cell;
}

// Writes the text of a cell that has no bytes, in the form of the vendor's products, into a buffer
// of kMaxRealBytes (vendor_real.hpp): a number, or N/A if it is missing. Returns the end.
char* put_cell(char* out, const Cell& cell);
// Appends the text of any cell.
void append_cell(std::string& out, const Cell& cell);
std::string cell_text(const Cell& cell);
// Returns the number that a reader of this text gets; empty if the cell is not a number.
std::optional<double> cell_number(const Cell& cell);

// Keeps texts until clear(), which keeps the memory.
class TextArena {
 public:
  std::string_view copy(std::string_view text) {
    if (text.size() > left_) grow(text.size());
    char* const to = at_;
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    at_ += text.size();
    left_ -= text.size();
    return {to, text.size()};
  }
  void clear();

 private:
  void grow(std::size_t bytes);

  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t chunk_bytes_ = 0;  // of the last chunk
  char* at_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace msprof
