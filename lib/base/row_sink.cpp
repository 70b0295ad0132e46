#include "base/row_sink.hpp"

namespace msprof {

namespace {

// Copies the cells that the sink reads.
class CopiedRows : public RowBlock {
 public:
  explicit CopiedRows(RowSink& sink) : sink_(sink) { cells_.reserve(kFullBytes / sizeof(Cell)); }

  void add(std::span<const Cell> cells) override {
    for (; known_columns_ < cells.size(); ++known_columns_)
      if (sink_.reads(known_columns_)) read_.push_back(known_columns_);
    sizes_.push_back(cells.size());
    for (const std::size_t column : read_) {
      if (column >= cells.size()) break;
      Cell& cell = cells_.emplace_back(cells[column]);
      if (!cell.has_bytes()) continue;
      cell.bytes = texts_.copy(cell.view()).data();
      text_bytes_ += cell.size;
    }
  }
  std::size_t bytes() const override { return cells_.size() * sizeof(Cell) + text_bytes_; }
  void flush() override {
    auto cell = cells_.begin();
    for (const std::size_t size : sizes_) {
      row_.resize(size);
      for (const std::size_t column : read_)
        if (column < size) row_[column] = *cell++;
      sink_.row(row_);
    }
    sizes_.clear();
    cells_.clear();
    texts_.clear();
    text_bytes_ = 0;
  }

 private:
  RowSink& sink_;
  std::size_t known_columns_ = 0;
  std::vector<std::size_t> read_;   // columns
  std::vector<std::size_t> sizes_;  // cells by row
  std::vector<Cell> cells_;
  TextArena texts_;
  std::size_t text_bytes_ = 0;
  std::vector<Cell> row_;
};

}  // namespace

std::unique_ptr<RowBlock> RowSink::make_block() {
  return std::make_unique<CopiedRows>(*this);
}

}  // namespace msprof
