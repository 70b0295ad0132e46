#include "cluster/collectives.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/number.hpp"
#include "store/row_cursor.hpp"

namespace msprof::cluster {

namespace {

auto collective_key(const auto& row) {
  return std::tuple(row.step, row.group_name_id, row.operation_name_id, row.sequence);
}

// Inserts a duration into the sorted extremes if it is one of them; `is_before` is the sort order.
template <typename IsBefore>
void place(std::int64_t (&ns)[kKeptExtremes], std::int64_t (&members)[kKeptExtremes],
           std::int64_t new_ns, std::int64_t new_member, IsBefore&& is_before) {
  if (new_ns == kNull) return;
  for (std::size_t i = 0; i < kKeptExtremes; ++i) {
    const bool goes_here =
        ns[i] == kNull || is_before(new_ns, ns[i]) || (new_ns == ns[i] && new_member < members[i]);
    if (!goes_here) continue;
    std::swap(new_ns, ns[i]);
    std::swap(new_member, members[i]);
    if (new_ns == kNull) return;
  }
}

void place_extremes(CollectiveRow& total, std::int64_t ns, std::int64_t member) {
  place(total.shortest_ns, total.shortest_member, ns, member, std::less<>());
  place(total.longest_ns, total.longest_member, ns, member, std::greater<>());
}

CollectiveHostRow& host_in(Collective& collective, std::int64_t host_name_id) {
  auto at = std::lower_bound(
      collective.hosts.begin(), collective.hosts.end(), host_name_id,
      [](const CollectiveHostRow& row, std::int64_t host) { return row.host_name_id < host; });
  if (at != collective.hosts.end() && at->host_name_id == host_name_id) return *at;
  CollectiveHostRow row;
  row.step = collective.total.step;
  row.group_name_id = collective.total.group_name_id;
  row.operation_name_id = collective.total.operation_name_id;
  row.sequence = collective.total.sequence;
  row.host_name_id = host_name_id;
  return *collective.hosts.insert(at, row);
}

}  // namespace

void add_rank(Collective& collective, const RankCollectiveRow& row, std::int64_t host_name_id) {
  CollectiveRow& total = collective.total;
  ++total.rank_count;
  total.duration_ns = saturating_add(total.duration_ns, row.duration_ns);
  const auto square = static_cast<int128>(row.duration_ns) * row.duration_ns;
  total.set_square_sum(total.square_sum() + static_cast<uint128>(square));
  place_extremes(total, row.duration_ns, row.member_id);
  CollectiveHostRow& host = host_in(collective, host_name_id);
  ++host.rank_count;
  host.first_start_ns = earlier(host.first_start_ns, row.start_ns);
  host.last_start_ns = std::max(host.last_start_ns, row.start_ns);
  host.last_end_ns = std::max(host.last_end_ns, saturating_add(row.start_ns, row.duration_ns));
}

void add_ranks(Collective& collective, const Collective& other) {
  CollectiveRow& total = collective.total;
  total.rank_count = saturating_add(total.rank_count, other.total.rank_count);
  total.duration_ns = saturating_add(total.duration_ns, other.total.duration_ns);
  total.set_square_sum(total.square_sum() + other.total.square_sum());
  for (std::size_t i = 0; i < kKeptExtremes; ++i) {
    place(total.shortest_ns, total.shortest_member, other.total.shortest_ns[i],
          other.total.shortest_member[i], std::less<>());
    place(total.longest_ns, total.longest_member, other.total.longest_ns[i],
          other.total.longest_member[i], std::greater<>());
  }
  for (const CollectiveHostRow& from : other.hosts) {
    CollectiveHostRow& to = host_in(collective, from.host_name_id);
    to.rank_count = saturating_add(to.rank_count, from.rank_count);
    to.first_start_ns = earlier(to.first_start_ns, from.first_start_ns);
    to.last_start_ns = std::max(to.last_start_ns, from.last_start_ns);
    to.last_end_ns = std::max(to.last_end_ns, from.last_end_ns);
  }
}

// Reads whichever of the two forms the part has, one collective at a time.
class Collectives::Source {
 public:
  explicit Source(const Part& part) : part_(part) {
    if (part.facts().has_detail) {
      for (const MemberRow& member : part.members()) hosts_.push_back(member.host_name_id);
      ranks_.emplace(part.db());
      has_more_ = ranks_->next();
    } else {
      totals_.emplace(part.db());
      host_rows_.emplace(part.db());
      has_more_ = host_rows_->next();
    }
  }

  bool next(Collective& out) {
    out.total = {};
    out.hosts.clear();
    return ranks_ ? next_of_ranks(out) : next_of_totals(out);
  }

 private:
  bool next_of_ranks(Collective& out) {
    if (!has_more_) return false;
    const auto key = collective_key(**ranks_);
    std::tie(out.total.step, out.total.group_name_id, out.total.operation_name_id,
             out.total.sequence) = key;
    do {
      const std::int64_t member = (*ranks_)->member_id;
      if (member < 1 || static_cast<std::size_t>(member) > hosts_.size())
        throw part_.damaged("a collective of an unknown rank");
      add_rank(out, **ranks_, hosts_[static_cast<std::size_t>(member) - 1]);
      has_more_ = ranks_->next();
    } while (has_more_ && collective_key(**ranks_) == key);
    return true;
  }

  bool next_of_totals(Collective& out) {
    if (!totals_->next()) return false;
    out.total = **totals_;
    while (has_more_ && collective_key(**host_rows_) == collective_key(out.total)) {
      out.hosts.push_back(**host_rows_);
      has_more_ = host_rows_->next();
    }
    if (out.hosts.empty()) throw part_.damaged("a collective without a host");
    return true;
  }

  const Part& part_;
  std::vector<std::int64_t> hosts_;  // host by member id - 1
  std::optional<RowCursor<RankCollectiveRow>> ranks_;
  std::optional<RowCursor<CollectiveRow>> totals_;
  std::optional<RowCursor<CollectiveHostRow>> host_rows_;
  bool has_more_ = false;
};

Collectives::Collectives(const Part& part) : source_(std::make_unique<Source>(part)) {}
Collectives::~Collectives() = default;

bool Collectives::next() {
  return source_->next(now_);
}

}  // namespace msprof::cluster
