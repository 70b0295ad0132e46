#include "import/old/old_ops.hpp"

#include <algorithm>

namespace msprof::old {

std::uint32_t TensorTable::find_or_add(const TensorTexts& texts) {
  const auto [at, is_new] = numbers_.try_emplace(texts, static_cast<std::uint32_t>(texts_.size()));
  if (is_new) texts_.push_back(&at->first);
  return at->second;
}

void TensorTable::add(const TensorKey& key, const TensorTexts& texts) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    by_key_.emplace(key, find_or_add(texts));
    return;
  }
  // Longer than the tensors of any real task.
  constexpr std::size_t kMaxTextBytes = 1 << 12;
  TensorTexts whole = *texts_[found->second];
  for (std::size_t side = 0; side < whole.size(); side += 3) {
    if (texts[side + 1].empty()) continue;  // every tensor has a type
    const bool goes_on = !whole[side + 1].empty();
    for (std::size_t i = side; i < side + 3; ++i) {
      if (whole[i].size() + texts[i].size() > kMaxTextBytes) return;
      if (goes_on) whole[i] += ';';
      whole[i] += texts[i];
    }
  }
  found->second = find_or_add(whole);
}

TensorIds TensorTable::find(TraceDbWriter& store, const TensorKey& key) const {
  TensorIds ids;
  ids.fill(kNull);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return ids;
  const TensorTexts& texts = *texts_[found->second];
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool has_side = !texts[i / 3 * 3 + 1].empty();
    if (has_side) ids[i] = store.name_id(texts[i]);
  }
  return ids;
}

std::int64_t OpRowWriter::find_or_add(const OpRow& row) {
  const OpRowKey key = {row.model_row,
                        row.name_id,
                        row.type_name_id,
                        row.unit_name_id,
                        row.block_num,
                        row.is_dynamic,
                        row.input_shapes_name_id,
                        row.input_types_name_id,
                        row.input_formats_name_id,
                        row.output_shapes_name_id,
                        row.output_types_name_id,
                        row.output_formats_name_id};
  const auto [at, is_new] = ids_.try_emplace(key, static_cast<std::int64_t>(ids_.size()) + 1);
  if (is_new) {
    OpRow written = row;
    written.id = at->second;
    store_.add(written);
  }
  return at->second;
}

namespace {

auto static_key(const OldOp& op) {
  return std::tuple(op.stream, op.task, op.kind, op.model);
}

auto dynamic_key(const OldOp& op) {
  return std::tuple(op.model, op.iteration, op.stream, op.task, op.batch, op.kind);
}

}  // namespace

void OldOps::add(const OldOp& op) {
  if (op.iteration == 0) {
    static_.push_back(op);
    return;
  }
  dynamic_.push_back(op);
  first_.try_emplace(std::tuple(op.model, op.iteration, op.stream), op);
}

// If several operators have the same key, the first is used.
void OldOps::sort() {
  std::stable_sort(static_.begin(), static_.end(),
                   [](const OldOp& a, const OldOp& b) { return static_key(a) < static_key(b); });
  std::stable_sort(dynamic_.begin(), dynamic_.end(),
                   [](const OldOp& a, const OldOp& b) { return dynamic_key(a) < dynamic_key(b); });
}

const OldOp* OldOps::find(std::uint32_t model, std::uint32_t stream, std::uint16_t task,
                          OpKind kind) const {
  const OldOp wanted{.model = model, .stream = stream, .task = task, .kind = kind};
  const auto is_task = [&](const OldOp& op) {
    return op.stream == stream && op.task == task && op.kind == kind;
  };
  auto at = std::lower_bound(
      static_.begin(), static_.end(), wanted,
      [](const OldOp& a, const OldOp& b) { return static_key(a) < static_key(b); });
  if (at != static_.end() && is_task(*at) && at->model == model) return &*at;
  // Uses the operator of another model: step records may name a model that was not described.
  const OldOp any{.model = 0, .stream = stream, .task = task, .kind = kind};
  at = std::lower_bound(static_.begin(), static_.end(), any, [](const OldOp& a, const OldOp& b) {
    return static_key(a) < static_key(b);
  });
  return at != static_.end() && is_task(*at) ? &*at : nullptr;
}

const OldOp* OldOps::find(std::uint32_t model, std::uint64_t iteration, std::uint32_t stream,
                          std::uint16_t task, std::uint16_t batch, OpKind kind) const {
  const OldOp wanted{.iteration = iteration,
                     .model = model,
                     .stream = stream,
                     .task = task,
                     .batch = batch,
                     .kind = kind};
  const auto at = std::lower_bound(
      dynamic_.begin(), dynamic_.end(), wanted,
      [](const OldOp& a, const OldOp& b) { return dynamic_key(a) < dynamic_key(b); });
  return at != dynamic_.end() && dynamic_key(*at) == dynamic_key(wanted) ? &*at : nullptr;
}

const OldOp* OldOps::find_first(std::uint32_t model, std::uint64_t iteration,
                                std::uint32_t stream) const {
  const auto at = first_.find(std::tuple(model, iteration, stream));
  return at == first_.end() ? nullptr : &at->second;
}

}  // namespace msprof::old
