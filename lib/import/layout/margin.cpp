#include "import/layout/margin.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace msprof::layout {

namespace {

// Position within the files of a byte of the records, modulo the record size.
std::size_t phase(const Explanation& one, std::size_t offset) {
  return (one.frame.header_bytes + offset) % one.frame.record_bytes;
}

// Rows that an explanation gives for the searched records: layer and span by start, of which
// `width` bytes count.
using Rows = std::map<std::uint64_t, std::vector<std::pair<int, double>>>;

Rows rows_of(const Explanation& one, std::size_t width, const std::vector<FileSample>& samples,
             const LayerCodes& codes) {
  Rows rows;
  const RecordSet records = choose_records(one, places_of(one.frame, samples, kSearched), codes);
  const Reading& reading = one.reading;
  for (std::size_t i = 0; i < records.starts.size(); ++i) {
    const Place& place = records.starts[i];
    const std::uint64_t start = number_at(place, reading.start.offset, reading.start.width);
    const std::uint64_t key = number_at(place, reading.start.offset, width);
    const int layer =
        reading.layer.width == 0 ? 0 : layer_of(reading.layer, codes, place.sample, place);
    rows[key].emplace_back(layer,
                           end_of(reading, place, records.ends[i]) - static_cast<double>(start));
  }
  return rows;
}

bool has_same_rows(const Rows& a, const Rows& b) {
  std::size_t same = 0, all = 0;
  for (const auto& [start, rows] : b) {
    const auto at = a.find(start);
    for (const auto& [layer, span] : rows) {
      ++all;
      if (at == a.end()) continue;
      same += std::any_of(at->second.begin(), at->second.end(), [&](const auto& row) {
        return row.first == layer && std::abs(row.second - span) <= 2 + 0.002 * span;
      });
    }
  }
  return same * 50 >= all * 49;
}

std::size_t count_records(const Frame& frame, const std::vector<FileSample>& samples) {
  if (frame.blocks) return places_of(frame, samples).size();
  std::size_t count = 0;
  for (const FileSample& sample : samples) {
    if (sample.size_bytes > frame.header_bytes)
      count +=
          static_cast<std::size_t>(sample.size_bytes - frame.header_bytes) / frame.record_bytes;
  }
  return count;
}

}  // namespace

bool has_same_times(const Explanation& a, const Explanation& b) {
  const auto column = [](const Reading& one) {
    return one.end        ? one.end->offset
           : one.duration ? one.duration->offset
           : one.total    ? one.total->offset
                          : SIZE_MAX;
  };
  return a.frame.record_bytes == b.frame.record_bytes &&
         phase(a, a.reading.start.offset) == phase(b, b.reading.start.offset) &&
         a.reading.has_span() == b.reading.has_span() &&
         phase(a, column(a.reading)) == phase(b, column(b.reading));
}

double lead_of_header(const Explanation& a, const Explanation& b) {
  return a.frame.bits + a.reading.aligned_bits - b.frame.bits - b.reading.aligned_bits;
}

bool is_shifted(const Explanation& a, const Explanation& b) {
  const std::size_t size = a.frame.record_bytes;
  if (size != b.frame.record_bytes) return false;
  const std::size_t behind =
      (phase(b, b.reading.start.offset) + size - phase(a, a.reading.start.offset)) % size;
  return behind != 0 && (behind < a.reading.start.width || size - behind < b.reading.start.width);
}

bool is_better_aligned(const Explanation& a, const Explanation& b) {
  // A byte more makes times finer, and gaps seem smaller.
  constexpr double kLeastBits = 5;
  const std::size_t first = phase(a, a.reading.start.offset),
                    second = phase(b, b.reading.start.offset), size = a.frame.record_bytes;
  const bool is_one_byte = (first + 1) % size == second || (second + 1) % size == first;
  return is_one_byte && a.reading.aligned_bits > 0 && b.reading.aligned_bits < 0 &&
         a.reading.has_span() && a.unit.certainty >= b.unit.certainty &&
         a.reading.bits > b.reading.bits - kLeastBits;
}

Margin margin_of(const std::vector<Explanation>& all, const std::vector<FileSample>& samples,
                 const LayerCodes& codes) {
  constexpr double kLeastBits = 30, kLeastPerRecord = 0.1, kLeastOfHeader = 8.5, kLeastOfBlocks = 4;
  Margin margin{true, true, true};
  const Explanation& best = all.front();
  const Rows wide = rows_of(best, best.reading.start.width, samples, codes);
  const Rows narrow = rows_of(best, 4, samples, codes);
  const std::size_t count = count_records(best.frame, samples);
  const double least = std::max(kLeastBits, kLeastPerRecord * static_cast<double>(count));
  for (std::size_t i = 1; i < all.size(); ++i) {
    const Explanation& other = all[i];
    const bool same_times = has_same_times(best, other);
    if (!other.reading.has_span() || best.bits - other.bits > (same_times ? kLeastBits : least))
      continue;
    if (same_times && best.frame.header_bytes == other.frame.header_bytes &&
        best.reading.layer.layers == other.reading.layer.layers)
      continue;
    if (is_shifted(best, other) &&
        (is_better_aligned(best, other) ||
         (best.unit.certainty == Certainty::certain && other.unit.certainty != Certainty::certain)))
      continue;
    const std::size_t width = std::min(best.reading.start.width, other.reading.start.width);
    if (!has_same_rows(width == 4 ? narrow : wide, rows_of(other, width, samples, codes))) {
      margin.is_clear = false;
    } else if (lead_of_header(best, other) <
               (best.frame.blocks ? kLeastOfBlocks : kLeastOfHeader)) {
      if (count_records(other.frame, samples) != count) margin.is_header_clear = false;
      if (other.frame.header_bytes != best.frame.header_bytes) margin.is_header_known = false;
    }
  }
  return margin;
}

}  // namespace msprof::layout
