#include "export/table/column_writer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/vendor_real.hpp"

namespace msprof {

namespace {

// Rows per chunk. A chunk also gets the last block, so that it may have more; indexes have 16 bits.
constexpr std::size_t kChunkRows = 32'768;
constexpr std::size_t kChunkTextBytes = 16 << 20;

enum class ValueKind : std::uint8_t { null, integer, real, text };

template <typename Number>
void append_bytes(std::string& out, Number number) {
  std::array<char, sizeof(Number)> bytes;
  std::memcpy(bytes.data(), &number, sizeof(Number));
  out.append(bytes.data(), bytes.size());
}

void append_json_array(std::string& out, const std::string& values) {
  append_bytes(out, static_cast<std::uint32_t>(values.size() + 2));
  out += '[';
  out += values;
  out += ']';
}

// JSON has no infinity; readers get one from this number.
void append_json_real(std::string& out, double value) {
  if (std::isinf(value)) {
    out += value < 0 ? "-1e999" : "1e999";
  } else {
    append_python_float(out, value);
  }
}

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

// The values of one column of a chunk.
class Column {
 public:
  // Makes room for `capacity` rows.
  void grow(std::size_t capacity) {
    kinds_.resize(capacity);
    values_.resize(capacity);
  }

  void set(std::size_t row, const Cell& cell) {
    switch (cell.form) {
      case CellForm::missing:
        return set(row, ValueKind::null, std::bit_cast<std::int64_t>(kNotANumber));
      case CellForm::integer:
        return set(row, ValueKind::integer, cell.integer);
      case CellForm::real:
        return set_real(row, cell.real);
      case CellForm::text:
        return set(row, ValueKind::text, text_index(cell));
      case CellForm::blob:
        return set(row, ValueKind::text, text_index(cell_text(cell)));
      default:
        return set_real(row, cell_number(cell).value_or(kNotANumber));
    }
  }

  // Sets the rows from `row` on to the first `count` of `other`.
  void set(std::size_t row, const Column& other, std::size_t count) {
    std::copy_n(other.kinds_.begin(), count, kinds_.begin() + static_cast<std::ptrdiff_t>(row));
    std::copy_n(other.values_.begin(), count, values_.begin() + static_cast<std::ptrdiff_t>(row));
    for (std::size_t i = 0; i < has_.size(); ++i) has_[i] = has_[i] || other.has_[i];
    if (other.texts_.empty()) return;
    std::vector<std::int64_t> indexes;
    indexes.reserve(other.texts_.size());
    for (const std::string_view text : other.texts_) indexes.push_back(text_index(text));
    for (std::size_t i = row; i < row + count; ++i)
      if (kinds_[i] == ValueKind::text) values_[i] = indexes[static_cast<std::size_t>(values_[i])];
  }

  // Writes the first `count` rows.
  void write(std::string& out, std::size_t count) const {
    if (has(ValueKind::text)) return write_texts(out, count);
    if (has(ValueKind::real)) return write_reals(out, count);
    if (!has(ValueKind::integer)) {
      out += '\0';
      return;
    }
    out += has(ValueKind::null) ? '\2' : '\1';
    if (has(ValueKind::null))
      for (std::size_t i = 0; i < count; ++i) out += kinds_[i] == ValueKind::null ? '\1' : '\0';
    append_values(out, values_, count);
  }

  // Different texts of the rows.
  std::size_t text_bytes() const { return text_bytes_; }

  // Forgets all rows, but keeps the room for them.
  void clear() {
    text_bytes_ = 0;
    has_ = {};
    texts_.clear();
    indexes_.clear();
    recent_.clear();
    arena_.clear();
  }

 private:
  static constexpr std::size_t kRecent = 256;
  struct Recent {
    std::uint32_t text_id = 0;
    std::int64_t index = 0;
  };

  bool has(ValueKind kind) const { return has_[static_cast<std::size_t>(kind)]; }
  void set(std::size_t row, ValueKind kind, std::int64_t value) {
    kinds_[row] = kind;
    values_[row] = value;
    has_[static_cast<std::size_t>(kind)] = true;
  }
  void set_real(std::size_t row, double value) {
    set(row, std::isnan(value) ? ValueKind::null : ValueKind::real,
        std::bit_cast<std::int64_t>(value));
  }

  std::int64_t text_index(const Cell& cell) {
    if (cell.text_id == 0) return text_index(cell.view());
    if (recent_.empty()) recent_.resize(kRecent);
    Recent& recent = recent_[cell.text_id % kRecent];
    if (recent.text_id != cell.text_id) recent = {cell.text_id, text_index(cell.view())};
    return recent.index;
  }
  std::int64_t text_index(std::string_view text) {
    const auto known = indexes_.find(text);
    if (known != indexes_.end()) return known->second;
    const auto index = static_cast<std::int64_t>(texts_.size());
    text_bytes_ += text.size();
    texts_.push_back(arena_.copy(text));
    indexes_.emplace(texts_.back(), index);
    return index;
  }

  template <typename Number>
  static void append_values(std::string& out, const std::vector<Number>& values,
                            std::size_t count) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
    out.append(reinterpret_cast<const char*>(values.data()), count * sizeof(Number));
  }

  void write_reals(std::string& out, std::size_t count) const {
    out += '\3';
    if (!has(ValueKind::integer)) return append_values(out, values_, count);
    std::vector<double> reals(count);
    for (std::size_t i = 0; i < count; ++i) {
      reals[i] = kinds_[i] == ValueKind::integer ? static_cast<double>(values_[i])
                                                 : std::bit_cast<double>(values_[i]);
    }
    append_values(out, reals, count);
  }

  void write_texts(std::string& out, std::size_t count) const {
    std::string values = "null";
    for (const std::string_view text : texts_) {
      values += ',';
      append_json_string(values, text);
    }
    std::size_t next = texts_.size() + 1;
    std::vector<std::uint16_t> indexes(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (kinds_[i] == ValueKind::null) continue;
      if (kinds_[i] == ValueKind::text) {
        indexes[i] = static_cast<std::uint16_t>(values_[i] + 1);
        continue;
      }
      values += ',';
      if (kinds_[i] == ValueKind::integer) {
        values += std::to_string(values_[i]);
      } else {
        append_json_real(values, std::bit_cast<double>(values_[i]));
      }
      indexes[i] = static_cast<std::uint16_t>(next++);
    }
    out += '\4';
    append_json_array(out, values);
    append_values(out, indexes, count);
  }

  std::array<bool, 4> has_{};  // by kind
  std::vector<ValueKind> kinds_;
  // An integer, the bits of a real (NaN for NULL), or an index of texts_.
  std::vector<std::int64_t> values_;
  std::vector<std::string_view> texts_;
  std::unordered_map<std::string_view, std::int64_t> indexes_;
  std::vector<Recent> recent_;  // indexes by text id; empty if no text has one
  TextArena arena_;
  std::size_t text_bytes_ = 0;
};

}  // namespace

class ColumnWriter::Rows {
 public:
  explicit Rows(std::size_t columns) : columns_(columns) {}

  void add(std::span<const Cell> cells) {
    make_room(count_ + 1);
    text_bytes_ = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      columns_[i].set(count_, i < cells.size() ? cells[i] : Cell());
      text_bytes_ += columns_[i].text_bytes();
    }
    ++count_;
  }
  void append(const Rows& other) {
    make_room(count_ + other.count_);
    text_bytes_ = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      columns_[i].set(count_, other.columns_[i], other.count_);
      text_bytes_ += columns_[i].text_bytes();
    }
    count_ += other.count_;
  }
  void write(TextOutput& out) const {
    append_bytes(out.buffer(), static_cast<std::uint32_t>(count_));
    for (const Column& column : columns_) {
      column.write(out.buffer(), count_);
      out.drain();
    }
  }
  void clear() {
    for (Column& column : columns_) column.clear();
    count_ = 0;
    text_bytes_ = 0;
  }
  std::size_t count() const { return count_; }
  bool is_full() const { return count_ >= kChunkRows || text_bytes_ >= kChunkTextBytes; }
  std::size_t bytes() const {
    return count_ * columns_.size() * (sizeof(std::int64_t) + 1) + text_bytes_;
  }

 private:
  void make_room(std::size_t rows) {
    if (rows <= capacity_) return;
    capacity_ = std::max({rows, 2 * capacity_, std::size_t{256}});
    for (Column& column : columns_) column.grow(capacity_);
  }

  std::vector<Column> columns_;
  std::size_t count_ = 0;
  std::size_t capacity_ = 0;
  std::size_t text_bytes_ = 0;  // of all columns
};

class ColumnWriter::Block : public RowBlock {
 public:
  explicit Block(ColumnWriter& writer) : writer_(writer), rows_(writer.columns_) {}

  void add(std::span<const Cell> cells) override { rows_.add(cells); }
  std::size_t bytes() const override { return rows_.bytes(); }
  void flush() override {
    writer_.rows_->append(rows_);
    rows_.clear();
    if (writer_.rows_->is_full()) writer_.write_rows();
  }

 private:
  ColumnWriter& writer_;
  Rows rows_;
};

ColumnWriter::ColumnWriter(TextOutput& out, Absent /*absent*/) : out_(out) {}
ColumnWriter::~ColumnWriter() = default;

void ColumnWriter::begin(std::span<const std::string> columns) {
  out_.buffer() += "msprof.columns/1\n";
  std::string names;
  for (const std::string& column : columns) {
    if (!names.empty()) names += ',';
    append_json_string(names, column);
  }
  append_json_array(out_.buffer(), names);
  columns_ = columns.size();
  rows_ = std::make_unique<Rows>(columns_);
}

void ColumnWriter::row(std::span<const Cell> cells) {
  rows_->add(cells);
  if (rows_->is_full()) write_rows();
}

std::unique_ptr<RowBlock> ColumnWriter::make_block() {
  return std::make_unique<Block>(*this);
}

void ColumnWriter::write_rows() {
  rows_->write(out_);
  rows_->clear();
}

void ColumnWriter::end() {
  if (rows_->count() > 0) write_rows();
  append_bytes(out_.buffer(), std::uint32_t{0});
}

}  // namespace msprof
