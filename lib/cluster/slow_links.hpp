// Slow links: the bandwidth from one rank to another against the other links of the same kind, for
// transfers of the same size.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/rows.hpp"

namespace msprof::cluster {

// Where a link begins or ends. `member_id` is kNull where no part tells which rank of the cluster
// the local one of the group is.
struct LinkEnd {
  std::int64_t member_id = kNull;
  std::int64_t group_name_id = kNull;  // of one that uses the link, with its number there
  std::int64_t local_rank = kNull;
};

struct SlowLink {
  LinkEnd source;
  LinkEnd target;
  std::int64_t link_type = kNull;  // export/cann_rules.hpp link_types()
  std::int64_t transport_type = kNull;
  std::int64_t size_class =
      0;  // of those in which it is slow the one that takes most time, as next
  std::int64_t bytes_per_s = 0;
  std::int64_t median_bytes_per_s = 0;  // of the links of its kind
  std::int64_t link_count = 0;          // of its kind, with this one
  std::int64_t count = 0;               // of its transfers, of all sizes, as the next
  std::int64_t size_bytes = 0;
  std::int64_t duration_ns = 0;
  std::int64_t lost_ns = 0;  // against the median, in the sizes in which it is slow
};

class SlowLinkFinder {
 public:
  static constexpr std::int64_t kSlowPercent = 67;  // of the median: slower is slow
  static constexpr std::int64_t kDeviations = 5;    // below the median, of 1.4826 median deviations
  static constexpr std::size_t kLeastLinks = 4;     // of a kind, to know what is usual
  static constexpr std::int64_t kLeastBytes = 1 << 20;
  static constexpr std::int64_t kLeastTransfers = 3;

  explicit SlowLinkFinder(std::span<const GroupMemberRow> groups);
  void add(const LinkRow& row);
  // The ones that lost most time first.
  std::vector<SlowLink> finish() const;

 private:
  // A member, or the place of an unknown one in `unknown_`, negative.
  using End = std::int64_t;
  struct Sums {
    std::int64_t count = 0;
    std::int64_t size_bytes = 0;
    std::int64_t duration_ns = 0;
  };
  using Kind = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // link, transport, size
  struct Link;

  End end_of(std::int64_t group, std::int64_t local_rank);
  LinkEnd told(End end) const;

  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> member_of_;  // group, local rank
  std::map<std::pair<std::int64_t, std::int64_t>, End> unknown_of_;
  std::vector<LinkEnd> unknown_;
  std::map<Kind, std::map<std::pair<End, End>, Sums>> kinds_;
};

}  // namespace msprof::cluster
