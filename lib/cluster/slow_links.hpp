// SlowLinkFinder compares the bandwidth of each link between two ranks with other links of the same
// kind, for transfers of similar size.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/rows.hpp"

namespace msprof::cluster {

// One end of a link. `member_id` is kNull if no part maps the local rank in the group to a rank of
// the cluster; then the other fields are set.
struct LinkEnd {
  std::int64_t member_id = kNull;
  std::int64_t group_name_id = kNull;  // a group that uses the link
  std::int64_t local_rank = kNull;
};

struct SlowLink {
  LinkEnd source;
  LinkEnd target;
  std::int64_t link_type = kNull;  // link_types() in export/scope/cann_rules.hpp
  std::int64_t transport_type = kNull;
  std::int64_t size_class =
      0;  // the slow size class with the most time; the next three fields are for this size
  std::int64_t bytes_per_s = 0;
  std::int64_t median_bytes_per_s = 0;  // median bandwidth of links of this kind
  std::int64_t link_count = 0;          // number of links of this kind, including this one
  std::int64_t count = 0;               // transfers of all sizes, as are the next two fields
  std::int64_t size_bytes = 0;
  std::int64_t duration_ns = 0;
  std::int64_t lost_ns = 0;  // time lost compared with the median, in slow size classes
};

class SlowLinkFinder {
 public:
  static constexpr std::int64_t kSlowPercent = 67;  // slow: below this percentage of the median
  static constexpr std::int64_t kDeviations = 5;    // median deviations (x 1.4826) below it
  static constexpr std::size_t kLeastLinks = 4;     // minimum links of a kind to compare
  static constexpr std::int64_t kLeastBytes = 1 << 20;
  static constexpr std::int64_t kLeastTransfers = 3;

  explicit SlowLinkFinder(std::span<const GroupMemberRow> groups);
  void add(const LinkRow& row);
  // Returns slow links, those with the most lost time first.
  std::vector<SlowLink> finish() const;

 private:
  // A member id or, if negative, an index into `unknown_`: -(index + 1).
  using End = std::int64_t;
  struct Sums {
    std::int64_t count = 0;
    std::int64_t size_bytes = 0;
    std::int64_t duration_ns = 0;
  };
  using Kind = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // key: link, transport, size
  struct Link;

  End find_end(std::int64_t group, std::int64_t local_rank);
  LinkEnd told(End end) const;

  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> member_of_;  // group, local rank
  std::map<std::pair<std::int64_t, std::int64_t>, End> unknown_of_;
  std::vector<LinkEnd> unknown_;
  std::map<Kind, std::map<std::pair<End, End>, Sums>> kinds_;
};

}  // namespace msprof::cluster
