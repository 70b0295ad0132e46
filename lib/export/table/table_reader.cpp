#include "export/table/table_reader.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "export/products.hpp"

namespace msprof {

namespace {

constexpr std::string_view kMissing = "N/A";

void read_number(TableValue& cell) {
  double value = 0;
  const auto end = cell.text.data() + cell.text.size();
  const bool is_number = std::from_chars(cell.text.data(), end, value).ec == std::errc();
  cell.number = is_number ? std::optional(value) : std::nullopt;
}

}  // namespace

// A cell shared by many rows.
struct TableReader::KeptCell {
  std::size_t place = 0;
  std::string text;
  std::optional<double> number;
  CellNotes notes{};
};

// Cells that no new row will have; rows not yet consumed may still have them.
struct TableReader::Retired {
  std::vector<std::vector<KeptCell>> cells;
};

struct TableReader::Kept : SharedCells::Kept {
  explicit Kept(std::shared_ptr<Retired> when_gone) : retired(std::move(when_gone)) {}
  ~Kept() override { retired->cells.push_back(std::move(cells)); }

  std::shared_ptr<Retired> retired;
  std::vector<KeptCell> cells;  // the wanted ones
  std::size_t columns = 0;      // all, wanted or not
};

// Rows that are passed on together. The consumer inserts kept cells and, on a second thread, parses
// numbers: producing rows takes longer than consuming them.
struct TableReader::Batch {
  struct KeptInRow {
    std::size_t row = 0;
    std::span<KeptCell> cells;
  };

  void read_numbers() {
    for (TableValue* const cell : unread) read_number(*cell);
    unread.clear();
  }

  std::size_t rows = 0;
  std::size_t max_rows = 0;
  std::vector<TableValue> values;   // row by row
  std::vector<std::string> texts;   // all cell texts, except kept cells
  std::vector<KeptInRow> kept;      // in row order
  std::vector<TableValue*> unread;  // numbers still to be parsed
  Retired retired;                  // while this batch was made
};

std::string field_name(std::string_view column) {
  std::string name = lower_ascii(trim(column.substr(0, column.find('('))));
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

TableReader::TableReader(std::vector<WantedField> wanted, OnRow on_row, WorkAhead* ahead)
    : wanted_(std::move(wanted)),
      on_row_(std::move(on_row)),
      ahead_(ahead),
      retired_(std::make_shared<Retired>()) {}

TableReader::~TableReader() = default;

void TableReader::begin(std::span<const std::string> columns) {
  place_of_column_.assign(columns.size(), wanted_.size());
  std::vector<bool> found(wanted_.size(), false);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto at =
        std::find_if(wanted_.begin(), wanted_.end(),
                     [name = field_name(columns[i])](const auto& one) { return one.name == name; });
    const auto place = static_cast<std::size_t>(at - wanted_.begin());
    // If two columns have the same name, the first is read.
    if (at == wanted_.end() || found[place]) continue;
    found[place] = true;
    place_of_column_[i] = place;
  }
  // Few enough to fit in a core's cache, and enough to make waking the thread cheap.
  constexpr std::size_t kBatchRows = 256;
  for (auto* const batch : {&batch_, &taken_}) {
    *batch = std::make_unique<Batch>();
    (*batch)->max_rows = ahead_ == nullptr ? 1 : kBatchRows;
    (*batch)->values.assign((*batch)->max_rows * wanted_.size(), {kMissing, std::nullopt});
    (*batch)->texts.resize((*batch)->max_rows * wanted_.size());
  }
  begin_row();
}

void TableReader::begin_row() {
  values_ = batch_->values.data() + batch_->rows * wanted_.size();
  texts_ = batch_->texts.data() + batch_->rows * wanted_.size();
  column_ = 0;
}

TableValue* TableReader::next_value(std::string_view text) {
  const std::size_t column = column_++;
  if (!reads(column)) return nullptr;
  const std::size_t place = place_of_column_[column];
  texts_[place] = text;
  values_[place] = {texts_[place], std::nullopt};
  return &values_[place];
}

TableReader::CellFormat TableReader::next_cell_format() {
  if (!reads(column_)) {
    ++column_;
    return CellFormat::nothing;
  }
  return wanted_[place_of_column_[column_]].is_number ? CellFormat::value : CellFormat::digits;
}

void TableReader::take_number(double value) {
  values_[place_of_column_[column_++]] = {{}, value};
}

void TableReader::text(std::string_view value) {
  next_value(value);
}

void TableReader::number(std::string_view digits) {
  TableValue* const cell = next_value(digits);
  if (cell == nullptr) return;
  ahead_ == nullptr ? read_number(*cell) : batch_->unread.push_back(cell);
}

std::unique_ptr<SharedCells::Kept> TableReader::keep_last(std::size_t cells) {
  batch_->read_numbers();
  auto kept = std::make_unique<Kept>(retired_);
  kept->columns = std::min(cells, column_);
  column_ -= kept->columns;
  for (std::size_t column = column_; column < column_ + kept->columns; ++column) {
    if (!reads(column)) continue;
    const TableValue& value = values_[place_of_column_[column]];
    kept->cells.push_back(
        {place_of_column_[column], std::string(value.text), value.number, CellNotes{}});
  }
  copy_kept(*kept);
  return kept;
}

void TableReader::copy_kept(SharedCells::Kept& kept) {
  auto& own = static_cast<Kept&>(kept);
  if (!own.cells.empty()) batch_->kept.push_back({batch_->rows, own.cells});
  column_ += own.columns;
}

void TableReader::end_row() {
  while (column_ < place_of_column_.size()) text(kMissing);
  ++batch_->rows;
  if (batch_->rows == batch_->max_rows) hand_over();
  begin_row();
}

void TableReader::end() {
  if (job_) job_.get();
  take(*batch_);
  batch_->rows = 0;
  begin_row();
}

void TableReader::hand_over() {
  if (ahead_ == nullptr) {
    take(*batch_);
    retired_->cells.clear();
  } else {
    if (job_) job_.get();
    std::swap(batch_, taken_);
    std::swap(taken_->retired, *retired_);
    job_ = ahead_->start([this] { take(*taken_); });
    batch_->retired.cells.clear();
  }
  batch_->rows = 0;
}

void TableReader::take(Batch& batch) {
  batch.read_numbers();
  auto kept = batch.kept.begin();
  for (std::size_t row = 0; row < batch.rows; ++row) {
    const auto values = std::span(batch.values).subspan(row * wanted_.size(), wanted_.size());
    for (; kept != batch.kept.end() && kept->row == row; ++kept) {
      for (KeptCell& cell : kept->cells) values[cell.place] = {cell.text, cell.number, &cell.notes};
    }
    on_row_(values);
  }
  batch.kept.clear();
}

std::unique_ptr<SummaryTable> find_table(const Database& db, std::string_view name) {
  for (auto& table : summary_tables(db)) {
    if (table->name() == name) return std::move(table);
  }
  return nullptr;
}

std::vector<std::string> field_names(const Database& db, const SummaryTable& table) {
  std::vector<std::string> fields;
  for (const std::string& header : table.columns(db)) fields.push_back(field_name(header));
  return fields;
}

std::vector<std::string> unit_load_fields(const Database& db, const SummaryTable& table) {
  std::vector<std::string> fields;
  for (const std::string& header : table.unit_loads(db)) fields.push_back(field_name(header));
  return fields;
}

bool read_table(const Database& db, std::string_view name, const std::vector<WantedField>& wanted,
                const TableReader::OnRow& on_row) {
  const auto table = find_table(db, name);
  if (table == nullptr) return false;
  const auto output_files = table->output_files(db);
  const auto headers = table->columns(db);
  for (const OutputFile& output_file : output_files) {
    TableReader reader(wanted, on_row);
    reader.begin(headers);
    table->write(db, output_file, reader);
  }
  return !output_files.empty();
}

}  // namespace msprof
