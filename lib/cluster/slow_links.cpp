#include "cluster/slow_links.hpp"

#include <algorithm>

#include "base/number.hpp"

namespace msprof::cluster {

namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t clamped(int128 value) {
  if (value > INT64_MAX) return INT64_MAX;
  return value < 0 ? 0 : static_cast<std::int64_t>(value);
}

std::int64_t bytes_per_second(std::int64_t size_bytes, std::int64_t duration_ns) {
  return clamped(static_cast<int128>(size_bytes) * kNsPerSecond / duration_ns);
}

std::int64_t median(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Usual {
  std::int64_t median = 0;
  std::int64_t deviation = 0;  // median absolute deviation
};

Usual compute_usual(const std::vector<std::int64_t>& values) {
  Usual usual;
  usual.median = median(values);
  std::vector<std::int64_t> distances;
  for (const std::int64_t value : values)
    distances.push_back(value < usual.median ? usual.median - value : value - usual.median);
  usual.deviation = median(std::move(distances));
  return usual;
}

}  // namespace

SlowLinkFinder::SlowLinkFinder(std::span<const GroupMemberRow> groups) {
  for (const GroupMemberRow& row : groups) {
    if (row.local_rank != kNull && row.member_id >= 1)
      member_of_.try_emplace({row.group_name_id, row.local_rank}, row.member_id);
  }
}

SlowLinkFinder::End SlowLinkFinder::find_end(std::int64_t group, std::int64_t local_rank) {
  const std::pair key{group, local_rank};
  if (const auto known = member_of_.find(key); known != member_of_.end()) return known->second;
  const auto [at, is_new] =
      unknown_of_.try_emplace(key, -static_cast<std::int64_t>(unknown_.size()) - 1);
  if (is_new) unknown_.push_back({kNull, group, local_rank});
  return at->second;
}

LinkEnd SlowLinkFinder::told(End end) const {
  if (end >= 0) return {end, kNull, kNull};
  return unknown_[static_cast<std::size_t>(-(end + 1))];
}

void SlowLinkFinder::add(const LinkRow& row) {
  const bool is_link = row.source_rank != kNull && row.target_rank != kNull &&
                       row.source_rank != row.target_rank && row.count > 0 && row.size_bytes > 0 &&
                       row.duration_ns > 0;
  if (!is_link) return;
  const End source = find_end(row.group_name_id, row.source_rank);
  const End target = find_end(row.group_name_id, row.target_rank);
  if (source == target) return;
  Sums& sums = kinds_[{row.link_type, row.transport_type, row.size_class}][{source, target}];
  sums.count = saturating_add(sums.count, row.count);
  sums.size_bytes = saturating_add(sums.size_bytes, row.size_bytes);
  sums.duration_ns = saturating_add(sums.duration_ns, row.duration_ns);
}

// Results for one link of one kind and transport, over all sizes.
struct SlowLinkFinder::Link {
  SlowLink slow;
  std::int64_t judged_ns = 0;      // time in size classes that could be compared
  std::int64_t slow_ns = 0;        // time in size classes in which it is slow
  std::int64_t most_slow_ns = -1;  // longest time in one slow size class
};

std::vector<SlowLink> SlowLinkFinder::finish() const {
  using LinkKey = std::tuple<std::int64_t, std::int64_t, End, End>;  // key: link, transport, ends
  std::map<LinkKey, Link> links;
  for (const auto& [kind, sums_of] : kinds_) {
    const auto& [link_type, transport_type, size_class] = kind;
    std::vector<std::int64_t> rates;
    for (const auto& [ends, sums] : sums_of) {
      if (sums.count >= kLeastTransfers && sums.size_bytes >= kLeastBytes)
        rates.push_back(bytes_per_second(sums.size_bytes, sums.duration_ns));
    }
    if (rates.size() < kLeastLinks) continue;
    const Usual usual = compute_usual(rates);
    for (const auto& [ends, sums] : sums_of) {
      if (sums.count < kLeastTransfers || sums.size_bytes < kLeastBytes) continue;
      Link& link = links[{link_type, transport_type, ends.first, ends.second}];
      link.judged_ns = saturating_add(link.judged_ns, sums.duration_ns);
      link.slow.count = saturating_add(link.slow.count, sums.count);
      link.slow.size_bytes = saturating_add(link.slow.size_bytes, sums.size_bytes);
      link.slow.duration_ns = saturating_add(link.slow.duration_ns, sums.duration_ns);
      const std::int64_t rate = bytes_per_second(sums.size_bytes, sums.duration_ns);
      const int128 below = static_cast<int128>(usual.median) - rate;
      const bool is_slow =
          static_cast<int128>(rate) * 100 < static_cast<int128>(usual.median) * kSlowPercent &&
          below * 10000 > static_cast<int128>(usual.deviation) * kDeviations * 14826;
      if (!is_slow) continue;
      link.slow_ns = saturating_add(link.slow_ns, sums.duration_ns);
      const std::int64_t usual_ns =
          clamped(static_cast<int128>(sums.size_bytes) * kNsPerSecond / usual.median);
      link.slow.lost_ns = saturating_add(link.slow.lost_ns, sums.duration_ns - usual_ns);
      if (sums.duration_ns <= link.most_slow_ns) continue;
      link.most_slow_ns = sums.duration_ns;
      link.slow.size_class = size_class;
      link.slow.bytes_per_s = rate;
      link.slow.median_bytes_per_s = usual.median;
      link.slow.link_count = static_cast<std::int64_t>(rates.size());
    }
  }
  std::vector<SlowLink> slow;
  for (auto& [key, link] : links) {
    // If a link is slow in only some sizes, the cause is the size, not the link.
    if (link.slow_ns == 0 || link.slow_ns < link.judged_ns / 2) continue;
    link.slow.link_type = std::get<0>(key);
    link.slow.transport_type = std::get<1>(key);
    link.slow.source = told(std::get<2>(key));
    link.slow.target = told(std::get<3>(key));
    slow.push_back(link.slow);
  }
  std::stable_sort(slow.begin(), slow.end(),
                   [](const SlowLink& a, const SlowLink& b) { return a.lost_ns > b.lost_ns; });
  return slow;
}

}  // namespace msprof::cluster
