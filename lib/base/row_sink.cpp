#include "base/row_sink.hpp"

namespace msprof {

namespace {

// Cells with further texts are not shared.
constexpr std::size_t kMaxKeptTexts = 1 << 16;

}  // namespace

void RowBuilder::copy(const Cell& cell) {
  cells_.push_back(cell);
  if (!cell.has_bytes()) return;
  cells_.back().text_id = 0;
  cells_.back().bytes = texts_.copy(cell.view()).data();
}

void RowBuilder::end_row() {
  sink_->row(cells_);
  cells_.clear();
  texts_.clear();
}

// Leaves `shared` empty if too many texts are kept, so that the cells are made again.
void RowBuilder::share(std::size_t first, SharedCells& shared) {
  for (std::size_t i = first; i < cells_.size(); ++i)
    if (cells_[i].has_bytes() && !keep_text(cells_[i])) return;
  shared.assign(cells_.begin() + static_cast<std::ptrdiff_t>(first), cells_.end());
}

bool RowBuilder::keep_text(Cell& cell) {
  auto known = kept_texts_.find(cell.view());
  if (known == kept_texts_.end()) {
    if (kept_texts_.size() >= kMaxKeptTexts) return false;
    const auto id = static_cast<std::uint32_t>(kept_texts_.size() + 1);
    known = kept_texts_.emplace(cell.view(), id).first;
  }
  cell.bytes = known->first.data();
  // A number with the same bytes is another value.
  if (cell.form == CellForm::text) cell.text_id = known->second;
  return true;
}

}  // namespace msprof
