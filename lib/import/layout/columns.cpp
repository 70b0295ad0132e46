#include "import/layout/columns.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace msprof::layout {

namespace {

// Entropy of a layer if the previous layer is known, in bits.
double conditional_entropy(const Places& places, const std::vector<int>& layers) {
  std::vector<std::pair<int, int>> pairs;
  int before = -1;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool is_first = i == 0 || places[i].sample != places[i - 1].sample;
    if (layers[i] < 0) continue;
    if (!is_first && before >= 0) pairs.emplace_back(before, layers[i]);
    before = layers[i];
  }
  if (pairs.empty()) return 0;
  std::sort(pairs.begin(), pairs.end());
  double bits = 0;
  for (std::size_t i = 0; i < pairs.size();) {
    std::size_t same_first = i;
    while (same_first < pairs.size() && pairs[same_first].first == pairs[i].first) ++same_first;
    const auto of_first = static_cast<double>(same_first - i);
    while (i < same_first) {
      std::size_t same = i;
      while (same < same_first && pairs[same] == pairs[i]) ++same;
      const auto count = static_cast<double>(same - i);
      bits -= count * std::log2(count / of_first);
      i = same;
    }
  }
  return bits / static_cast<double>(pairs.size());
}

// Sets the statistics of a column. Returns false if its numbers do not run through layers again and
// again.
bool describe(const Places& places, std::size_t layers, LayerColumn& column) {
  std::vector<bool> seen(layers, false), in_first(layers, false);
  std::size_t falls = 0, steps = 0, changes = 0, counted = 0, first_distinct = 0, files = 1;
  int before = -1;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool is_first = i == 0 || places[i].sample != places[i - 1].sample;
    const int layer = column.layers[i];
    if (is_first) before = -1;
    if (is_first && i > 0) ++files;
    if (layer < 0) continue;
    if (static_cast<std::size_t>(layer) >= layers) return false;
    if (!seen[static_cast<std::size_t>(layer)]) ++column.distinct;
    seen[static_cast<std::size_t>(layer)] = true;
    if (files == 1 && !in_first[static_cast<std::size_t>(layer)]) {
      in_first[static_cast<std::size_t>(layer)] = true;
      ++first_distinct;
    }
    if (before >= 0) {
      ++steps;
      falls += layer < before ? 1u : 0u;
      changes += layer != before ? 1u : 0u;
      counted += layer == before + 1 ? 1u : 0u;
    }
    before = layer;
  }
  // Few layers must all occur; of many, some may have no records.
  const std::size_t least = layers <= 3 ? layers : std::max<std::size_t>(3, layers * 2 / 5);
  if (column.distinct < least || first_distinct * 2 < column.distinct) return false;
  if (layers > 1 && falls + (files - 1) < 1) return false;
  if (layers > 1 && changes * 12 < column.valid) return false;
  column.is_counter = counted + falls == changes && counted > 0;
  const double all = std::log2(static_cast<double>(std::max<std::size_t>(column.distinct, 2)));
  column.bits = all - conditional_entropy(places, column.layers);
  column.quality =
      static_cast<double>(column.distinct) / static_cast<double>(layers) * column.bits / all *
      (1 - static_cast<double>(falls) / static_cast<double>(std::max<std::size_t>(steps, 1)));
  return column.bits > 0.3 * all;
}

std::uint32_t fnv1a_32(std::string_view text) {
  std::uint32_t hash = 0x811c9dc5;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
  return hash;
}

bool fill_by_order(const Places& places, std::size_t layers, LayerColumn& column) {
  std::unordered_map<std::uint64_t, int> seen;
  column.layers.clear();
  for (const Place& place : places) {
    const std::uint64_t number = number_at(place, column.offset, column.width);
    const auto [at, is_new] = seen.try_emplace(number, static_cast<int>(seen.size()));
    if (is_new) column.order.push_back(number);
    if (seen.size() > layers) return false;
    column.layers.push_back(at->second);
  }
  column.valid = places.size();
  return seen.size() == layers && layers >= 3;
}

}  // namespace

LayerCodes::LayerCodes(const std::vector<FileSample>& samples) : first_(samples.data()) {
  constexpr std::int64_t kSmall = 1024;
  if (!samples.empty()) layers_ = samples.front().layers.size();
  for (const FileSample& sample : samples) {
    Table& table = tables_.emplace_back();
    table.small_ids.assign(kSmall, -1);
    for (std::size_t i = 0; i < sample.layers.size(); ++i) {
      const LayerFacts& layer = sample.layers[i];
      const auto index = static_cast<int>(i);
      if (layer.id >= 0 && layer.id < kSmall)
        table.small_ids[static_cast<std::size_t>(layer.id)] = index;
      table.ids.emplace(static_cast<std::uint64_t>(layer.id), index);
      if (layer.info_offset) table.offsets.emplace(*layer.info_offset, index);
      table.crcs.emplace(*number(LayerForm::crc32, layer), index);
      table.fnvs.emplace(*number(LayerForm::fnv1a, layer), index);
    }
  }
}

int LayerCodes::index(const FileSample* sample, LayerForm form, std::uint64_t number) const {
  const Table& table = tables_[static_cast<std::size_t>(sample - first_)];
  const std::uint64_t id = form == LayerForm::from_one ? number - 1 : number;
  const bool is_id = form == LayerForm::id || form == LayerForm::from_one;
  if (is_id && id < table.small_ids.size()) return table.small_ids[static_cast<std::size_t>(id)];
  const auto& map = is_id                      ? table.ids
                    : form == LayerForm::crc32 ? table.crcs
                    : form == LayerForm::fnv1a ? table.fnvs
                                               : table.offsets;
  const auto at = map.find(id);
  return at == map.end() ? -1 : at->second;
}

std::optional<std::uint64_t> LayerCodes::number(LayerForm form, const LayerFacts& layer) const {
  switch (form) {
    case LayerForm::id:
      return static_cast<std::uint64_t>(layer.id);
    case LayerForm::from_one:
      return static_cast<std::uint64_t>(layer.id) + 1;
    case LayerForm::info_offset:
      return layer.info_offset;
    case LayerForm::crc32:
      return ::crc32(0, reinterpret_cast<const Bytef*>(layer.name.data()),
                     static_cast<uInt>(layer.name.size()));
    case LayerForm::fnv1a:
      return fnv1a_32(layer.name);
    case LayerForm::order:
      break;
  }
  return std::nullopt;
}

int layer_of(const LayerColumn& layer, const LayerCodes& codes, const FileSample* sample,
             const Place& place) {
  const std::uint64_t number = number_at(place, layer.offset, layer.width);
  if (layer.form != LayerForm::order) return codes.index(sample, layer.form, number);
  const auto at = std::find(layer.order.begin(), layer.order.end(), number);
  return at == layer.order.end() ? -1 : static_cast<int>(at - layer.order.begin());
}

bool varies(const Places& places, std::size_t offset) {
  constexpr std::size_t kTried = 37;
  const std::uint64_t first = number_at(places.front(), offset, 1);
  const auto differs = [&](std::size_t i) { return number_at(places[i], offset, 1) != first; };
  const std::size_t step = std::max<std::size_t>(1, places.size() / kTried);
  // Neighbors, too: the step may be that of the executions.
  for (std::size_t i = 0; i < places.size(); i += i < kTried ? 1 : step)
    if (differs(i)) return true;
  return false;
}

std::vector<LayerColumn> find_layer_columns(const Places& places, std::size_t record_bytes,
                                            const LayerCodes& codes, double least_valid,
                                            bool by_order) {
  std::vector<LayerColumn> found;
  const std::size_t layers = codes.layers();
  if (places.empty() || layers == 0) return found;
  const auto most_invalid =
      static_cast<std::size_t>((1 - least_valid) * static_cast<double>(places.size()));
  const auto fill = [&](LayerColumn& column) {
    std::size_t invalid = 0;
    column.layers.clear();
    column.valid = 0;
    for (const Place& place : places) {
      const int index =
          codes.index(place.sample, column.form, number_at(place, column.offset, column.width));
      column.layers.push_back(index);
      if (index >= 0) {
        ++column.valid;
      } else if (++invalid > most_invalid) {
        return false;
      }
    }
    return column.valid > 0;
  };
  for (std::size_t offset = 0; offset < record_bytes; ++offset) {
    if (layers > 2 && !varies(places, offset)) continue;
    std::vector<LayerColumn> here;
    for (const LayerForm form : {LayerForm::id, LayerForm::from_one, LayerForm::info_offset,
                                 LayerForm::crc32, LayerForm::fnv1a}) {
      const bool is_hash = form == LayerForm::crc32 || form == LayerForm::fnv1a;
      for (const std::size_t width : {4u, 2u, 1u}) {
        if (offset + width > record_bytes || (is_hash && width < 4)) continue;
        LayerColumn column;
        column.offset = offset;
        column.width = width;
        column.form = form;
        if (!fill(column) || !describe(places, layers, column)) continue;
        here.push_back(std::move(column));
        break;  // the widest
      }
    }
    // Ids and ids from one: the reading with numbers that the other does not explain.
    if (here.size() >= 2 && here[0].form == LayerForm::id && here[1].form == LayerForm::from_one) {
      if (here[0].valid == here[1].valid) {
        const bool all_as_id = here[0].distinct == layers, all_as_one = here[1].distinct == layers;
        here[0].is_ambiguous = !all_as_id && !all_as_one;
        here.erase(here.begin() + (all_as_one && !all_as_id ? 0 : 1));
      } else {
        here.erase(here.begin() + (here[0].valid > here[1].valid ? 1 : 0));
      }
    }
    for (LayerColumn& column : here) found.push_back(std::move(column));
  }
  if (!by_order) return found;
  for (std::size_t offset = 0; offset + 4 <= record_bytes; ++offset) {
    if (!varies(places, offset)) continue;
    LayerColumn column;
    column.offset = offset;
    column.form = LayerForm::order;
    if (fill_by_order(places, layers, column) && describe(places, layers, column) &&
        column.distinct == layers)
      found.push_back(std::move(column));
  }
  return found;
}

std::vector<GroupColumn> find_group_columns(const Places& places, std::size_t record_bytes) {
  constexpr std::size_t kMostGroups = 8;
  std::vector<GroupColumn> found;
  for (std::size_t offset = 0; offset < record_bytes; ++offset) {
    GroupColumn column;
    column.offset = offset;
    std::array<int, 256> group_of{};
    group_of.fill(-1);
    column.groups.reserve(places.size());
    for (const Place& place : places) {
      const auto value = static_cast<std::uint8_t>(number_at(place, offset, 1));
      if (group_of[value] < 0) {
        if (column.values.size() == kMostGroups) break;
        group_of[value] = static_cast<int>(column.values.size());
        column.values.push_back(value);
        column.counts.push_back(0);
      }
      ++column.counts[static_cast<std::size_t>(group_of[value])];
      column.groups.push_back(static_cast<std::uint8_t>(group_of[value]));
    }
    if (column.groups.size() < places.size() || column.values.size() < 2) continue;
    const bool is_known = std::any_of(found.begin(), found.end(), [&](const GroupColumn& other) {
      return other.groups == column.groups;
    });
    if (!is_known) found.push_back(std::move(column));
  }
  return found;
}

Sequence make_sequence(const Places& places, const std::vector<int>& layers,
                       const GroupColumn* groups) {
  Sequence sequence;
  std::array<std::size_t, 8> last{};
  last.fill(Sequence::none());
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i > 0 && places[i].sample != places[i - 1].sample) last.fill(Sequence::none());
    const std::size_t group = groups == nullptr ? 0 : groups->groups[i];
    const std::size_t before = last[group];
    sequence.previous.push_back(before);
    sequence.restarts.push_back(before != Sequence::none() && !layers.empty() &&
                                layers[i] < layers[before]);
    last[group] = i;
  }
  return sequence;
}

std::vector<TimeColumn> find_time_columns(const Places& places, std::size_t record_bytes,
                                          const Sequence& sequence, bool may_fall) {
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 31, kMost = std::uint64_t{1} << 61;
  std::vector<TimeColumn> found;
  std::vector<std::uint64_t> values(places.size()), steps;
  const auto rises = [&](TimeColumn& column) {
    if (!varies(places, column.offset)) return false;
    std::uint64_t rise = 0, falls = 0, restarts = 0, turns = 0, carries = 0;
    std::uint64_t full_turns = 0, small_falls = 0, greatest_fall = 0;
    steps.clear();
    for (std::size_t i = 0; i < places.size(); ++i) {
      values[i] = number_at(places[i], column.offset, column.width);
      const std::size_t before = sequence.previous[i];
      if (column.width == 8 && values[i] > kMost) return false;
      if (before == Sequence::none()) continue;
      const std::uint64_t was = values[before];
      restarts += sequence.restarts[i] ? 1u : 0u;
      if (values[i] < was) {
        const bool is_wrap =
            column.width == 4 && ((values[i] - was) & 0xffffffff) < kHalf && was > kHalf;
        if (is_wrap && !column.is_relative) {
          column.wraps = true;
        } else if (may_fall) {
          ++small_falls;
          greatest_fall = std::max(greatest_fall, was - values[i]);
          continue;
        } else if (sequence.restarts[i] && (falls > 0 || values[i] * 4 < was)) {
          ++falls;
          continue;
        } else {
          return false;
        }
      }
      const std::uint64_t step =
          column.width == 4 ? (values[i] - was) & 0xffffffff : values[i] - was;
      if (column.width == 4 && step >= kHalf) return false;
      if (column.width == 8 && values[i] >> 32 != was >> 32) {
        ++turns;
        carries += (values[i] & 0xffffffff) < (was & 0xffffffff) ? 1u : 0u;
        full_turns += step >= kHalf ? 1u : 0u;
      }
      steps.push_back(step);
      rise += step;
    }
    if (falls > 0) {
      if (column.wraps || falls * 8 < restarts) return false;
      column.is_relative = true;
    }
    constexpr std::uint64_t kLeastRise = 16;  // times the greatest fall
    if (rise == 0 || rise / kLeastRise < greatest_fall || small_falls > steps.size()) return false;
    // The upper half is another number: it changes at every step, or without a carry.
    if (turns * 2 > steps.size() || (turns >= 3 && carries == 0)) return false;
    // The lower half starts again whenever the upper one counts.
    if (turns >= 2 && carries == turns && full_turns == turns) return false;
    // Not a counter of records or executions, nor a part of one: half of its steps are equal.
    const auto middle = steps.begin() + std::ssize(steps) / 2;
    std::nth_element(steps.begin(), middle, steps.end());
    return std::count(steps.begin(), steps.end(), *middle) * 2 < std::ssize(steps);
  };
  for (std::size_t offset = 0; offset + 4 <= record_bytes; ++offset) {
    for (const std::size_t width : {8u, 4u}) {
      if (offset + width > record_bytes) continue;
      TimeColumn column;
      column.offset = offset;
      column.width = width;
      if (rises(column)) found.push_back(column);
    }
  }
  return found;
}

}  // namespace msprof::layout
