#include "query/summary_rows.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/number.hpp"
#include "base/vendor_real.hpp"
#include "export/table/table_chunks.hpp"
#include "export/table/table_reader.hpp"

namespace msprof {

namespace {

Cell integer_or_null(std::optional<std::int64_t> value) {
  return value ? make_cell(CellForm::integer, *value) : Cell();
}

// The cells `model_id` and `step` of an output file.
std::vector<Cell> read_place(const Database& store, const OutputFile& output_file) {
  std::optional<std::int64_t> model_id;
  std::optional<std::int64_t> step;
  if (output_file.step_id != kNull) {
    Statement& read = store.reuse("SELECT number FROM step WHERE id = ?");
    if (read.bind(1, output_file.step_id).step()) step = read.maybe_integer(0);
    read.reset();
  }
  if (output_file.model_row != kNull) {
    Statement& read = store.reuse("SELECT model_id FROM model WHERE id = ?");
    if (read.bind(1, output_file.model_row).step()) model_id = read.maybe_integer(0);
    read.reset();
  }
  return {integer_or_null(model_id), integer_or_null(step)};
}

// Writers print a cell that is plain without looking at its form.
void set_form(Cell& to, CellForm form) {
  to.form = form;
  to.is_time = false;
  to.is_plain = false;
}

void set_integer(Cell& to, std::int64_t value) {
  set_form(to, CellForm::integer);
  to.integer = value;
}

void set_real(Cell& to, double value) {
  set_form(to, std::isnan(value) ? CellForm::missing : CellForm::real);
  to.real = value;
}

// Digits are an integer if they have no decimals.
void set_digits(Cell& to, std::string_view digits) {
  const char* const end = digits.data() + digits.size();
  std::int64_t whole = 0;
  double real = 0;
  const auto is_read = [end](const std::from_chars_result& result) {
    return result.ptr == end && result.ec == std::errc();
  };
  if (is_read(std::from_chars(digits.data(), end, whole))) return set_integer(to, whole);
  if (is_read(std::from_chars(digits.data(), end, real))) return set_real(to, real);
  to = make_cell(CellForm::text, digits);
}

// Returns the number of a cell whose form is one; cell_number() does so for every form, but takes
// longer.
double real_number(const Cell& cell) {
  if (cell.form == CellForm::real) return cell.real;
  std::optional<double> number;
  if (cell.form == CellForm::us || cell.form == CellForm::us6) number = us_as_read(cell.integer);
  if (cell.form == CellForm::sqlite_round3) number = sqlite_round3_as_read(cell.real);
  if (!number) number = cell_number(cell);
  return number.value_or(std::numeric_limits<double>::quiet_NaN());
}

// Sets `to` to the value that SQL has: null, an integer, a real or a text. In place, since rows
// have many cells.
void set_sql(Cell& to, const Cell& cell) {
  switch (cell.form) {
    case CellForm::missing:
      return set_form(to, CellForm::missing);
    case CellForm::text:
      to = cell;
      if (cell.view() == "N/A") set_form(to, CellForm::missing);
      return;
    case CellForm::blob:
      to = cell;
      return;
    case CellForm::integer:
      return set_integer(to, cell.integer);
    case CellForm::digits:
      return set_digits(to, cell.view());
    case CellForm::fixed3_trimmed: {
      constexpr double kExact = 1LL << 53;
      const double number = real_number(cell);
      if (std::trunc(number) == number && std::fabs(number) <= kExact)
        return set_integer(to, static_cast<std::int64_t>(number));
      return set_real(to, number);
    }
    case CellForm::us:
    case CellForm::us6:
    case CellForm::real:
    case CellForm::fixed3:
    case CellForm::sqlite_round3:
      return set_real(to, real_number(cell));
  }
}

// Passes on the rows of a file as SQL has them.
class SqlRows : public RowSink {
 public:
  SqlRows(RowSink& out, std::size_t fields, std::vector<Cell> place)
      : out_(out), fields_(fields), place_(std::move(place)) {
    for (std::size_t i = 0; i < fields; ++i)
      if (out.reads(i)) read_.push_back(i);
  }

  void begin(std::span<const std::string>) override {}
  // The first cell shows whether the row is a total.
  bool reads(std::size_t column) const override { return column == 0 || out_.reads(column); }
  void row(std::span<const Cell> cells) override {
    if (convert(cells, cells_)) out_.row(cells_);
  }
  std::unique_ptr<RowBlock> make_block() override {
    return std::make_unique<Block>(*this, out_.make_block());
  }

 private:
  class Block : public RowBlock {
   public:
    Block(const SqlRows& rows, std::unique_ptr<RowBlock> out) : rows_(rows), out_(std::move(out)) {}
    void add(std::span<const Cell> cells) override {
      if (rows_.convert(cells, cells_)) out_->add(cells_);
    }
    std::size_t bytes() const override { return out_->bytes(); }
    void flush() override { out_->flush(); }

   private:
    const SqlRows& rows_;
    std::unique_ptr<RowBlock> out_;
    std::vector<Cell> cells_;
  };

  // Thread-safe. Returns false for a row with totals.
  bool convert(std::span<const Cell> cells, std::vector<Cell>& converted) const {
    if (!cells.empty() && cells.front().form == CellForm::text && cells.front().view() == "-")
      return false;
    if (converted.empty()) {
      converted.resize(fields_);
      converted.insert(converted.end(), place_.begin(), place_.end());
    }
    for (const std::size_t i : read_) {
      if (i < cells.size()) {
        set_sql(converted[i], cells[i]);
      } else {
        set_form(converted[i], CellForm::missing);
      }
    }
    return true;
  }

  RowSink& out_;
  std::size_t fields_;
  std::vector<std::size_t> read_;  // fields that the sink reads
  std::vector<Cell> place_;        // empty, or the last two cells of each row
  std::vector<Cell> cells_;
};

}  // namespace

std::vector<std::string> summary_fields(const Database& store, const SummaryTable& table) {
  std::vector<std::string> fields = field_names(store, table);
  std::map<std::string, int> times;
  for (std::string& field : fields) {
    const int time = ++times[field];
    if (time > 1) field += fmt::format("_{}", time);
  }
  return fields;
}

bool has_summary_places(const Database& store, const SummaryTable& table) {
  bool has_places = false;
  table.visit_files(store, [&](const OutputFile& output_file) {
    has_places = output_file.step_id != kNull || output_file.model_row != kNull;
    return !has_places;
  });
  return has_places;
}

void write_summary_rows(const Database& store, const SummaryTable& table, RowSink& sink) {
  const std::size_t fields = table.columns(store).size();
  const bool has_places = has_summary_places(store, table);
  table.visit_files(store, [&](const OutputFile& output_file) {
    SqlRows rows(sink, fields, has_places ? read_place(store, output_file) : std::vector<Cell>());
    write_table(store, table, output_file, rows);
    return true;
  });
}

}  // namespace msprof
