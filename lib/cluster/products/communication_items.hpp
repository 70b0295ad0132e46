// CommunicationItems iterates over the collectives of a rank summary (Part): times of each rank and
// its transfers by kind of link, per collective and per group. Memory use does not depend on the
// size of the part.
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

// Conversion factors to the units of products.
inline constexpr double kNsPerUs = 1e3;
inline constexpr double kNsPerMs = 1e6;
inline constexpr double kBytesPerMegabyte = 1e6;

// Kinds of links as named in the vendor's products. SDMA includes HCCS, PCIE and SIO. UB is shown
// only if it was used.
enum class Band { hccs, rdma, pcie, sdma, sio, ub };
inline constexpr std::size_t kBands = 6;
std::string_view band_name(Band band);
// Returns the kind of link for the type numbers of a row; empty for transfers within a device.
std::optional<Band> to_band(std::int64_t link_type, std::int64_t transport_type);
// True if the kind is included in SDMA.
bool is_sdma_driven(Band band);

struct Packets {
  std::int64_t count = 0;
  std::int64_t duration_ns = 0;
};

struct BandTotal {
  std::int64_t size_bytes = 0;
  std::int64_t duration_ns = 0;
  std::map<std::int64_t, Packets> packets;  // by size in bytes; in SDMA without the included kinds

  void add(std::int64_t packet_bytes, const Packets& more);
  void add(const BandTotal& other);
  // Adds sizes and durations, but not `packets`.
  void add_sums(const BandTotal& other);
};
// Returns the number of packets of at least `least_bytes` and the number of all packets; (0, 1) if
// there are none.
std::pair<std::int64_t, std::int64_t> large_packets(const BandTotal& total,
                                                    std::int64_t least_bytes);
// Packets of at least this size in bytes count as large in cluster products.
std::int64_t large_packet_bytes(Band band);

// Times and transfers of one rank in one or several collectives.
struct RankCommunication {
  std::int64_t member_id = 0;
  std::int64_t start_ns = kNull;  // start of the first, in the clock of the reference host
  std::int64_t duration_ns = 0;
  std::int64_t wait_ns = 0;
  std::int64_t synchronization_ns = 0;
  std::int64_t transit_ns = 0;
  std::array<BandTotal, kBands> bands;

  BandTotal& band(Band of) { return bands[static_cast<std::size_t>(of)]; }
  const BandTotal& band(Band of) const { return bands[static_cast<std::size_t>(of)]; }
  // Time that is neither wait nor transit.
  std::int64_t idle_ns() const;
};

struct CommunicationItem {
  std::int64_t step = kNull;
  std::int64_t group_name_id = kNull;
  std::int64_t operation_name_id = kNull;  // kNull: total of the group in the step
  std::int64_t sequence = 0;
  std::vector<RankCommunication> ranks;  // in order of member id

  bool is_total() const { return operation_name_id == kNull; }
};

class CommunicationItems {
 public:
  enum class Kind { all, pairs, collectives };
  // With `with_operations` false, or if the part has no detail, returns only totals.
  CommunicationItems(const ClusterView& view, Kind kind, bool with_operations);
  // Advances in order of (step, group, operation, sequence). The total of a group follows its
  // operations.
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
  bool has_operations_;
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

// Returns the number of rows in rank_collective. Above a limit, products contain only totals.
std::int64_t rank_collective_count(const Part& part);

// Returns "hcom_allReduce__855_0_1": operation, last three characters of the group, number in the
// step, and "1" as in the vendor's names. Returns "Total Op Info" for a total. The full group name
// is not included.
std::string communication_name(const ClusterView& view, const CommunicationItem& item);

// Appends value / 10^decimals without trailing zeros, but with at least one decimal: "12.0",
// "0.000001".
void append_decimal(std::string& out, std::int64_t value, int decimals);
// Appends numerator / denominator with at most four decimals; "0.0" if the denominator is 0.
void append_ratio(std::string& out, int128 numerator, int128 denominator);
// Appends "Communication Time Info". Cluster and single-capture products define idle time
// differently.
void append_time_info(std::string& out, const RankCommunication& rank, std::int64_t idle_ns);
// Appends one member of "Communication Bandwidth Info".
void append_band(std::string& out, Band band, const BandTotal& total,
                 std::int64_t least_large_bytes);

}  // namespace msprof::cluster
