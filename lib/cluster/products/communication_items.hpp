// CommunicationItems: what each rank did in each collective and in all of a group together, with
// its transfers by kind of link, one after the other out of a part of any size. For the products
// about communication.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "cluster/products/cluster_view.hpp"
#include "store/row_cursor.hpp"

namespace msprof::cluster {

// Units of products.
inline constexpr double kNsPerUs = 1e3;
inline constexpr double kNsPerMs = 1e6;
inline constexpr double kBytesPerMegabyte = 1e6;

// Kinds of links as the vendor's products name them. SDMA has what it drives: HCCS, PCIE and SIO
// together; UB is shown only where it was used.
enum class Band { hccs, rdma, pcie, sdma, sio, ub };
inline constexpr std::size_t kBands = 6;
std::string_view band_name(Band band);
// The kind of link by the numbers of a row; empty for transfers within a device.
std::optional<Band> band_of(std::int64_t link_type, std::int64_t transport_type);
// True where it is a part of SDMA.
bool is_sdma_driven(Band band);

// Transfers of one size.
struct Packets {
  std::int64_t count = 0;
  std::int64_t duration_ns = 0;
};

struct BandTotal {
  std::int64_t size_bytes = 0;
  std::int64_t duration_ns = 0;
  std::map<std::int64_t, Packets> packets;  // by size in bytes; none of what SDMA drives

  void add(std::int64_t packet_bytes, const Packets& more);
  void add(const BandTotal& other);
  // Size and duration alone.
  void add_sums(const BandTotal& other);
};
// Packets of at least `least_bytes` among all, as numerator and denominator; 0 of 1 of none.
std::pair<std::int64_t, std::int64_t> large_packets(const BandTotal& total,
                                                    std::int64_t least_bytes);
// The size from which a packet counts as large in products of a cluster.
std::int64_t large_packet_bytes(Band band);

// A rank's part in a collective, or in several.
struct RankCommunication {
  std::int64_t member_id = 0;
  std::int64_t start_ns = kNull;  // of the first, on the clock of the reference host
  std::int64_t duration_ns = 0;
  std::int64_t wait_ns = 0;
  std::int64_t synchronization_ns = 0;
  std::int64_t transit_ns = 0;
  std::array<BandTotal, kBands> bands;

  BandTotal& band(Band of) { return bands[static_cast<std::size_t>(of)]; }
  const BandTotal& band(Band of) const { return bands[static_cast<std::size_t>(of)]; }
  // Neither waiting nor transit.
  std::int64_t idle_ns() const;
};

struct CommunicationItem {
  std::int64_t step = kNull;
  std::int64_t group_name_id = kNull;
  std::int64_t operation_name_id = kNull;  // kNull: the total of the group in the step
  std::int64_t sequence = 0;
  std::vector<RankCommunication> ranks;  // in order of members

  bool is_total() const { return operation_name_id == kNull; }
};

class CommunicationItems {
 public:
  enum class Kind { all, pairs, collectives };
  // `with_operations`: false gives totals alone. A part without detail has no others.
  CommunicationItems(const ClusterView& view, Kind kind, bool with_operations);
  // In order of (step, group, operation, sequence), the total of a group behind its operations.
  bool next();
  const CommunicationItem& operator*() const { return item_; }
  const CommunicationItem* operator->() const { return &item_; }

 private:
  bool read_row();
  bool is_wanted(std::int64_t operation_name_id) const;
  void take_row();
  void take_packets(RankCommunication& rank);
  void take_total();

  const ClusterView* view_;
  Kind kind_;
  bool with_operations_;
  std::optional<RowCursor<RankCollectiveRow>> each_;
  std::optional<RowCursor<CollectiveTotalRow>> totals_;
  RowCursor<PacketRow> packets_;
  bool has_packet_;
  bool has_row_ = false;
  RankCollectiveRow row_;
  CommunicationItem item_;
  std::int64_t total_step_ = kNull;
  std::int64_t total_group_ = kNull;
  std::map<std::int64_t, RankCommunication> total_;  // by member
};

// Rows of rank_collective, beyond which products have totals alone.
std::int64_t rank_collective_count(const Part& part);

// "hcom_allReduce__855_0_1": the operation, the last three characters of its group, its number in
// the step, and 1, as the vendor's names end; "Total Op Info" of a total. Without its group.
std::string communication_name(const ClusterView& view, const CommunicationItem& item);

// The digits of value / 10^decimals, without zeros at the end but for one: "12.0", "0.000001".
void append_decimal(std::string& out, std::int64_t value, int decimals);
// numerator / denominator with at most four decimals; "0.0" where the denominator is 0.
void append_ratio(std::string& out, int128 numerator, int128 denominator);
// "Communication Time Info"; products of a cluster and of a capture differ in the idle time.
void append_time_info(std::string& out, const RankCommunication& rank, std::int64_t idle_ns);
// A member of "Communication Bandwidth Info".
void append_band(std::string& out, Band band, const BandTotal& total,
                 std::int64_t least_large_bytes);

}  // namespace msprof::cluster
