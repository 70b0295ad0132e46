#include "import/layout/layer_ranks.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace msprof::layout {

namespace {

// Returns true if each number of `count` has one layer.
bool follows(const LayerColumn& one, const LayerColumn& count) {
  std::map<int, int> layer_of_count;
  std::size_t others = 0;
  for (std::size_t i = 0; i < one.layers.size(); ++i)
    others +=
        layer_of_count.try_emplace(count.layers[i], one.layers[i]).first->second != one.layers[i]
            ? 1u
            : 0u;
  return others * 50 <= one.layers.size();
}

double share_of_falls(const LayerColumn& layer) {
  std::size_t falls = 0;
  for (std::size_t i = 1; i < layer.layers.size(); ++i)
    falls += layer.layers[i] < layer.layers[i - 1] ? 1u : 0u;
  return static_cast<double>(falls) / static_cast<double>(layer.layers.size());
}

}  // namespace

std::vector<RankedLayer> rank_layers(const std::vector<LayerColumn>& layers, std::size_t all) {
  // Offsets in layer.info and hashes are no coincidence. A number that has gaps or repeats names
  // layers rather than counts records. Other numbers need the order of the layers.
  const auto rank_of = [](const LayerColumn& one) {
    if (one.form != LayerForm::id && one.form != LayerForm::from_one &&
        one.form != LayerForm::order)
      return 0;
    if (one.form == LayerForm::order) return 3;
    return one.is_counter ? 2 : 1;
  };
  // A small number that depends on the layer names few of them, in no order.
  constexpr double kLeastQuality = 0.45, kRivalQuality = 0.75;
  constexpr double kNoOrder = 0.35, kOrder = 0.2;
  double most = 0, fewest = 1;
  for (const LayerColumn& layer : layers) {
    most = std::max(most, layer.quality);
    if (layer.form != LayerForm::order) fewest = std::min(fewest, share_of_falls(layer));
  }
  std::vector<const LayerColumn*> order;
  for (const LayerColumn& layer : layers) {
    const bool has_no_order = fewest < kOrder && share_of_falls(layer) > kNoOrder;
    if (layer.quality >= kLeastQuality * most && !has_no_order) order.push_back(&layer);
  }
  // A small number that only seems to name layers does not follow a count of the records.
  const auto is_stray = [&](const LayerColumn* one) {
    return rank_of(*one) == 1 && std::any_of(order.begin(), order.end(), [&](const auto* count) {
             // One that follows the count, but has fewer values, may depend on the layer.
             return rank_of(*count) == 2 &&
                    (one->distinct * 4 < count->distinct * 3 ||
                     (count->quality > 1.2 * one->quality && !follows(*one, *count)));
           });
  };
  std::map<const LayerColumn*, bool> strays;
  for (const LayerColumn* one : order) strays[one] = is_stray(one);
  const auto better = [&](const LayerColumn* a, const LayerColumn* b) {
    return std::tuple(strays[a], rank_of(*a), -a->quality) <
           std::tuple(strays[b], rank_of(*b), -b->quality);
  };
  std::stable_sort(order.begin(), order.end(), better);
  std::vector<RankedLayer> ranked;
  constexpr std::size_t kMostColumns = 3;
  for (const LayerColumn* layer : order) {
    if (ranked.size() == kMostColumns) break;
    // A count of some layers may count records only. Two equal ones are a count and the layer.
    const bool is_confirmed =
        std::any_of(order.begin(), order.end(), [&](const LayerColumn* other) {
          const bool apart = other->offset >= layer->offset + layer->width ||
                             layer->offset >= other->offset + other->width;
          return apart && other->form == layer->form && other->layers == layer->layers;
        });
    const bool is_part = layer->distinct * 4 < all * 3;  // of the layers
    bool is_doubtful =
        layer->is_ambiguous || is_part ||
        (layer->is_counter && rank_of(*layer) == 2 && !is_confirmed && layer->distinct < all);
    for (const LayerColumn* other : order) {
      const bool is_rival = rank_of(*other) == rank_of(*layer) || rank_of(*other) < rank_of(*layer);
      if (other != layer && is_rival && other->layers != layer->layers &&
          other->quality > kRivalQuality * layer->quality)
        is_doubtful = true;
    }
    ranked.push_back({layer, is_doubtful});
  }
  return ranked;
}

}  // namespace msprof::layout
