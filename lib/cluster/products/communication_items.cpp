#include "cluster/products/communication_items.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/number.hpp"

namespace msprof::cluster {

namespace {

// Values of cann::link_types() and cann::transport_types().
constexpr std::int64_t kLinkOnChip = 0;
constexpr std::int64_t kTransportSdma = 0;
constexpr std::int64_t kTransportRdma = 1;
constexpr std::int64_t kTransportLocal = 2;
constexpr std::int64_t kTransportUb = 3;
constexpr std::int64_t kTransportRoce = 4;

constexpr std::int64_t kLargeRdmaBytes = 500'000;
constexpr std::int64_t kLargeBytes = 32'000'000;
constexpr std::size_t kGroupLetters = 3;

template <typename Row>
auto make_key(const Row& row) {
  return std::tuple(row.step, row.group_name_id, row.operation_name_id, row.sequence,
                    row.member_id);
}

}  // namespace

std::string_view band_name(Band band) {
  constexpr std::string_view kNames[kBands] = {"HCCS", "RDMA", "PCIE", "SDMA", "SIO", "UB"};
  return kNames[static_cast<std::size_t>(band)];
}

std::optional<Band> to_band(std::int64_t link_type, std::int64_t transport_type) {
  if (transport_type == kTransportLocal) return std::nullopt;
  switch (link_type) {
    case 1:
    case 5:
      return Band::hccs;
    case 2:
      return Band::pcie;
    case 3:
    case 6:
      return Band::rdma;
    case 4:
      return Band::sio;
    case 7:
    case 8:
      return Band::ub;
    default:
      break;
  }
  if (transport_type == kTransportRdma || transport_type == kTransportRoce) return Band::rdma;
  if (transport_type == kTransportUb) return Band::ub;
  if (link_type == kLinkOnChip || transport_type != kTransportSdma) return std::nullopt;
  return Band::sdma;
}

bool is_sdma_driven(Band band) {
  return band == Band::hccs || band == Band::pcie || band == Band::sio;
}

void BandTotal::add(std::int64_t packet_bytes, const Packets& more) {
  const int128 bytes = static_cast<int128>(packet_bytes) * more.count;
  size_bytes = saturating_add(size_bytes,
                              static_cast<std::int64_t>(std::clamp<int128>(bytes, 0, INT64_MAX)));
  duration_ns = saturating_add(duration_ns, more.duration_ns);
  Packets& same = packets[packet_bytes];
  same.count = saturating_add(same.count, more.count);
  same.duration_ns = saturating_add(same.duration_ns, more.duration_ns);
}

void BandTotal::add_sums(const BandTotal& other) {
  size_bytes = saturating_add(size_bytes, other.size_bytes);
  duration_ns = saturating_add(duration_ns, other.duration_ns);
}

void BandTotal::add(const BandTotal& other) {
  add_sums(other);
  const std::int64_t bytes = size_bytes;
  const std::int64_t duration = duration_ns;
  for (const auto& [size, one] : other.packets) add(size, one);
  size_bytes = bytes;
  duration_ns = duration;
}

std::int64_t large_packet_bytes(Band band) {
  return band == Band::rdma ? kLargeRdmaBytes : kLargeBytes;
}

std::pair<std::int64_t, std::int64_t> large_packets(const BandTotal& total,
                                                    std::int64_t least_bytes) {
  std::int64_t all = 0;
  std::int64_t large = 0;
  for (const auto& [size, one] : total.packets) {
    all = saturating_add(all, one.count);
    if (size >= least_bytes) large = saturating_add(large, one.count);
  }
  return all == 0 ? std::pair<std::int64_t, std::int64_t>(0, 1) : std::pair(large, all);
}

std::int64_t RankCommunication::idle_ns() const {
  return std::max<std::int64_t>(
      saturating_subtract(saturating_subtract(duration_ns, wait_ns), transit_ns), 0);
}

CommunicationItems::CommunicationItems(const ClusterView& view, Kind kind, bool with_operations)
    : view_(&view),
      kind_(kind),
      has_operations_(with_operations && view.part().facts().has_detail),
      packets_(view.part().db()),
      has_packet_(packets_.next()) {
  if (view.part().facts().has_detail) {
    each_.emplace(view.part().db());
  } else {
    totals_.emplace(view.part().db());
  }
  has_row_ = read_row();
}

bool CommunicationItems::is_wanted(std::int64_t operation_name_id) const {
  return kind_ == Kind::all ||
         view_->is_pair_operation(operation_name_id) == (kind_ == Kind::pairs);
}

bool CommunicationItems::read_row() {
  if (each_) {
    while (each_->next()) {
      row_ = **each_;
      if (is_wanted(row_.operation_name_id)) return true;
    }
    return false;
  }
  while (totals_->next()) {
    const CollectiveTotalRow& from = **totals_;
    if (!is_wanted(from.operation_name_id)) continue;
    row_.step = from.step;
    row_.group_name_id = from.group_name_id;
    row_.operation_name_id = from.operation_name_id;
    row_.sequence = kNull;
    row_.member_id = from.member_id;
    row_.start_ns = from.first_start_ns;
    row_.duration_ns = from.duration_ns;
    row_.wait_ns = from.wait_ns;
    row_.synchronization_ns = from.synchronization_ns;
    row_.transit_ns = from.transit_ns;
    row_.size_bytes = from.size_bytes;
    return true;
  }
  return false;
}

void CommunicationItems::take_packets(RankCommunication& rank) {
  while (has_packet_ && make_key(*packets_) < make_key(row_)) has_packet_ = packets_.next();
  for (; has_packet_ && make_key(*packets_) == make_key(row_); has_packet_ = packets_.next()) {
    const auto band = to_band(packets_->link_type, packets_->transport_type);
    if (!band) continue;
    BandTotal packets;
    packets.add(packets_->size_bytes, {packets_->count, packets_->duration_ns});
    rank.band(*band).add(packets);
    if (is_sdma_driven(*band)) rank.band(Band::sdma).add_sums(packets);
  }
}

void CommunicationItems::take_row() {
  RankCommunication rank;
  rank.member_id = row_.member_id;
  view_->product_rank(rank.member_id);  // throws if the member does not exist
  rank.start_ns = view_->aligned(row_.start_ns, rank.member_id);
  rank.duration_ns = row_.duration_ns;
  rank.wait_ns = row_.wait_ns;
  rank.synchronization_ns = row_.synchronization_ns;
  rank.transit_ns = row_.transit_ns;
  take_packets(rank);

  RankCommunication& total = total_[rank.member_id];
  total.member_id = rank.member_id;
  if (rank.start_ns != kNull && (total.start_ns == kNull || rank.start_ns < total.start_ns))
    total.start_ns = rank.start_ns;
  total.duration_ns = saturating_add(total.duration_ns, rank.duration_ns);
  total.wait_ns = saturating_add(total.wait_ns, rank.wait_ns);
  total.synchronization_ns = saturating_add(total.synchronization_ns, rank.synchronization_ns);
  total.transit_ns = saturating_add(total.transit_ns, rank.transit_ns);
  for (std::size_t i = 0; i < kBands; ++i) total.bands[i].add(rank.bands[i]);
  if (has_operations_) item_.ranks.push_back(std::move(rank));
}

void CommunicationItems::take_total() {
  item_ = {};
  item_.step = total_step_;
  item_.group_name_id = total_group_;
  for (auto& [member, rank] : total_) item_.ranks.push_back(std::move(rank));
  total_.clear();
}

bool CommunicationItems::next() {
  for (;;) {
    const bool is_same_group =
        has_row_ && row_.step == total_step_ && row_.group_name_id == total_group_;
    if (!total_.empty() && !is_same_group) {
      take_total();
      return true;
    }
    if (!has_row_) return false;
    total_step_ = row_.step;
    total_group_ = row_.group_name_id;
    item_ = {row_.step, row_.group_name_id, row_.operation_name_id, row_.sequence, {}};
    while (has_row_ && row_.step == item_.step && row_.group_name_id == item_.group_name_id &&
           row_.operation_name_id == item_.operation_name_id && row_.sequence == item_.sequence) {
      take_row();
      has_row_ = read_row();
    }
    if (has_operations_ && !item_.is_total()) return true;
  }
}

std::int64_t rank_collective_count(const Part& part) {
  Statement read = part.db().prepare("SELECT ifnull(max(id), 0) FROM rank_collective");
  return read.step() ? read.integer(0) : 0;
}

std::string communication_name(const ClusterView& view, const CommunicationItem& item) {
  if (item.is_total()) return "Total Op Info";
  const std::string_view group = view.text(item.group_name_id);
  return fmt::format("{}_{}_{}_1", view.text(item.operation_name_id),
                     group.substr(group.size() - std::min(group.size(), kGroupLetters)),
                     item.sequence);
}

void append_decimal(std::string& out, std::int64_t value, int decimals) {
  char digits[32];
  char* at = digits + sizeof digits;
  // Unsigned, because INT64_MIN has no positive counterpart.
  std::uint64_t rest = static_cast<std::uint64_t>(value);
  if (value < 0) rest = ~rest + 1;
  char* end = at;
  for (int i = 0; i < decimals; ++i, rest /= 10) *--at = static_cast<char>('0' + rest % 10);
  while (end - at > 1 && end[-1] == '0') --end;
  *--at = '.';
  do {
    *--at = static_cast<char>('0' + rest % 10);
  } while ((rest /= 10) != 0);
  if (value < 0) *--at = '-';
  out.append(at, end);
}

void append_ratio(std::string& out, int128 numerator, int128 denominator) {
  if (denominator == 0) {
    out += "0.0";
    return;
  }
  constexpr int kDecimals = 4;
  const int128 value = divide_rounded(numerator * 10'000, denominator);
  append_decimal(out, static_cast<std::int64_t>(std::clamp<int128>(value, INT64_MIN, INT64_MAX)),
                 kDecimals);
}

}  // namespace msprof::cluster
