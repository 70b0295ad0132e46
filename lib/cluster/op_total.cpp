#include "cluster/op_total.hpp"

#include <algorithm>
#include <bit>

#include "base/varint.hpp"

namespace msprof::cluster {

namespace {

constexpr int kExactBits = 7;  // Histogram::kExact is 2^7
constexpr int kOctaveBits = 6;
constexpr std::uint32_t kBins =
    Histogram::kExact + (63 - kExactBits) * Histogram::kPerOctave;  // bins for all positive numbers

}  // namespace

std::uint32_t Histogram::to_bin(std::int64_t ns) {
  if (ns < static_cast<std::int64_t>(kExact)) return ns < 0 ? 0 : static_cast<std::uint32_t>(ns);
  const auto value = static_cast<std::uint64_t>(ns);
  const auto octave = static_cast<int>(std::bit_width(value)) - 1;
  const auto place = static_cast<std::uint32_t>(value >> (octave - kOctaveBits)) - kPerOctave;
  return kExact + static_cast<std::uint32_t>(octave - kExactBits) * kPerOctave + place;
}

std::int64_t Histogram::bin_start(std::uint32_t bin) {
  if (bin < kExact) return bin;
  const std::uint32_t octave = (bin - kExact) / kPerOctave + kExactBits;
  const std::uint64_t place = (bin - kExact) % kPerOctave + kPerOctave;
  return static_cast<std::int64_t>(place << (octave - kOctaveBits));
}

void Histogram::add(std::int64_t ns, std::int64_t count) {
  const std::uint32_t bin = to_bin(ns);
  const auto at = std::lower_bound(bins_.begin(), bins_.end(), bin,
                                   [](const auto& one, std::uint32_t b) { return one.first < b; });
  if (at != bins_.end() && at->first == bin) {
    at->second = saturating_add(at->second, count);
  } else {
    bins_.insert(at, {bin, count});
  }
}

void Histogram::add(const Histogram& other) {
  if (bins_.empty()) {
    bins_ = other.bins_;
    return;
  }
  std::vector<std::pair<std::uint32_t, std::int64_t>> sum;
  sum.reserve(bins_.size() + other.bins_.size());
  auto a = bins_.begin();
  auto b = other.bins_.begin();
  while (a != bins_.end() || b != other.bins_.end()) {
    if (b == other.bins_.end() || (a != bins_.end() && a->first < b->first)) {
      sum.push_back(*a++);
    } else if (a == bins_.end() || b->first < a->first) {
      sum.push_back(*b++);
    } else {
      sum.emplace_back(a->first, saturating_add(a->second, b->second));
      ++a;
      ++b;
    }
  }
  bins_ = std::move(sum);
}

std::int64_t Histogram::quantile_ns(std::int64_t numerator, std::int64_t denominator) const {
  int128 count = 0;
  for (const auto& [bin, in_it] : bins_) count += in_it;
  if (count == 0) return kNull;
  const int128 place = std::max<int128>((count * numerator + denominator - 1) / denominator, 1);
  int128 seen = 0;
  for (const auto& [bin, in_it] : bins_) {
    seen += in_it;
    if (seen >= place) return bin_start(bin);
  }
  return bin_start(bins_.back().first);
}

std::string Histogram::encoded() const {
  std::string bytes;
  std::uint32_t before = 0;
  for (const auto& [bin, count] : bins_) {
    append_varint(bytes, bin - before);
    append_varint(bytes, static_cast<std::uint64_t>(count));
    before = bin;
  }
  return bytes;
}

bool Histogram::add_encoded(std::string_view bytes) {
  Histogram read;
  std::uint64_t bin = 0;
  while (!bytes.empty()) {
    std::uint64_t distance = 0;
    std::uint64_t count = 0;
    if (!take_varint(bytes, distance) || !take_varint(bytes, count)) return false;
    if (distance >= kBins || (distance == 0 && !read.bins_.empty())) return false;
    bin += distance;
    if (bin >= kBins || count == 0 || count > INT64_MAX) return false;
    read.bins_.emplace_back(static_cast<std::uint32_t>(bin), static_cast<std::int64_t>(count));
  }
  add(read);
  return true;
}

void OpTotal::add(std::int64_t ns, std::int64_t member) {
  ++count;
  duration_ns = saturating_add(duration_ns, ns);
  const auto square = static_cast<int128>(ns) * ns;
  square_sum += static_cast<uint128>(square);
  if (shortest_ns == kNull || ns < shortest_ns) {
    shortest_ns = ns;
    shortest_member = member;
  }
  if (longest_ns == kNull || ns > longest_ns) {
    longest_ns = ns;
    longest_member = member;
  }
  histogram.add(ns);
}

void OpTotal::add(const OpTotal& other) {
  count = saturating_add(count, other.count);
  duration_ns = saturating_add(duration_ns, other.duration_ns);
  square_sum += other.square_sum;
  const auto is_before = [](std::int64_t ns, std::int64_t member, std::int64_t than_ns,
                            std::int64_t than_member, bool by_most) {
    if (ns == kNull) return false;
    if (than_ns == kNull) return true;
    if (ns != than_ns) return by_most ? ns > than_ns : ns < than_ns;
    return member < than_member;
  };
  if (is_before(other.shortest_ns, other.shortest_member, shortest_ns, shortest_member, false)) {
    shortest_ns = other.shortest_ns;
    shortest_member = other.shortest_member;
  }
  if (is_before(other.longest_ns, other.longest_member, longest_ns, longest_member, true)) {
    longest_ns = other.longest_ns;
    longest_member = other.longest_member;
  }
  histogram.add(other.histogram);
}

}  // namespace msprof::cluster
