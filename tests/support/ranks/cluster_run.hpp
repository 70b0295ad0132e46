// ClusterRun: simulates a training job on many ranks: each rank computes, arrives at a collective,
// waits for the last one, transfers, and continues. Faults are planted at their cause: a rank that
// computes longer, a slow link, a wrong clock. Source of capture folders and rank summaries; it
// shares no code with the analysis.
//
// Times are true nanoseconds after the start of the collection, in multiples of 20, the tick of the
// device clock. The same shape gives the same times.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msprof::test::ranks {

inline constexpr std::int64_t kNoPartner = -1;
inline constexpr std::int64_t kTickNs = 20;
inline constexpr std::int64_t kFirstStep = 1;

struct RankFaults {
  std::int64_t slow_rank = kNoPartner;  // computes longer
  std::int64_t slow_host = kNoPartner;  // all its ranks compute longer
  std::int64_t slow_percent = 30;
  std::int64_t low_frequency_rank = kNoPartner;  // computes longer, at a lower frequency
  std::pair<std::int64_t, std::int64_t> slow_link{kNoPartner, kNoPartner};
  std::int64_t slow_link_factor = 6;
  std::int64_t late_host = kNoPartner;  // its clock is ahead by offset_us
  std::int64_t offset_us = 0;
  bool growing = false;  // each step computes 4 % longer than the previous one
  std::set<std::int64_t> missing;
};

struct ClusterShape {
  std::int64_t ranks = 8, ranks_per_host = 8, steps = 4;
  std::int64_t collectives = 10;  // per step
  std::int64_t operators = 40;
  std::int64_t tasks = 2000;  // per rank, approximately
  std::uint64_t seed = 1;
  // False: one group of all ranks, and pairs. True: also one group per host, and groups across
  // hosts.
  bool is_parallel = false;
  std::int64_t compute_ns = 1'000'000;  // before a collective
  RankFaults faults{};

  std::int64_t hosts() const { return (ranks + ranks_per_host - 1) / ranks_per_host; }
  std::int64_t host_number(std::int64_t rank) const { return rank / ranks_per_host; }
  std::int64_t clock_error_ns(std::int64_t rank) const {
    return host_number(rank) == faults.late_host ? faults.offset_us * 1000 : 0;
  }
};

// Values of hccl_info. Source: cann_host.md 1.9, T6 and T7.
inline constexpr std::uint32_t kHccsLink = 1, kRoceLink = 3, kSdma = 0, kRdma = 1;

struct Transfer {
  std::int64_t peer = 0;        // its rank in the job
  std::int64_t peer_local = 0;  // its rank in the group
  std::uint32_t link = kHccsLink, transport = kSdma;
  std::int64_t size = 0, duration_ns = 0;
};

// One rank in a collective: it waits from `arrive` to `all_there`, does its transfers one after the
// other, and waits for the other ranks until `end`.
struct RankCollective {
  std::string_view operation;  // "hcom_allReduce_"
  std::string group;
  std::int64_t local_rank = 0, rank_count = 0;
  std::int64_t arrive = 0, all_there = 0, end = 0;
  std::int64_t overlapped_ns = 0;  // overlapping computation, from `all_there` on
  std::vector<Transfer> transfers;

  bool is_receive() const { return operation == "hcom_receive_"; }
  bool is_point_to_point() const { return is_receive() || operation == "hcom_send_"; }
  std::int64_t transit_ns() const;
};

class ClusterRun {
 public:
  explicit ClusterRun(const ClusterShape& shape);

  const ClusterShape& shape() const { return shape_; }

  // Start, end and first work of a rank in a step; steps count from 0.
  std::int64_t step_begin(std::int64_t rank, std::int64_t step) const;
  std::int64_t step_end(std::int64_t rank, std::int64_t step) const;
  std::int64_t first_work(std::int64_t rank, std::int64_t step) const;
  std::int64_t collection_us(std::int64_t rank) const {
    return step_end(rank, shape_.steps - 1) / 1000 + 1000;
  }
  // Computing time before the collective `at`; for `at` after the last one, until the end of the
  // step.
  std::int64_t compute_ns(std::int64_t rank, std::int64_t step, std::int64_t at) const;
  // Whether the rank takes part in the collective.
  bool takes_part(std::int64_t rank, std::int64_t at) const;
  RankCollective collective(std::int64_t rank, std::int64_t step, std::int64_t at) const;

  // Groups that contain the rank: name, local rank, number of members.
  struct Membership {
    std::string group;
    std::int64_t local_rank = 0, rank_count = 0;
  };
  std::vector<Membership> list_groups(std::int64_t rank) const;
  std::int64_t frequency_mhz(std::int64_t rank) const;
  // Duration of execution `number` of the operator `op` (from 0).
  std::int64_t operator_ns(std::int64_t rank, std::int64_t op, std::int64_t number) const;

 private:
  enum class Scope { world, host, across, pair };
  struct Place {
    std::int64_t group = 0, local_rank = 0, rank_count = 0;
  };
  struct Moment {
    std::int64_t arrive = 0;
    std::uint32_t all_there = 0, end = 0;  // after `arrive`
  };

  Scope choose_scope(std::int64_t at) const;
  Place find_place(Scope scope, std::int64_t rank) const;
  // The other rank of a pair; kNoPartner if there is none.
  std::int64_t find_partner(std::int64_t rank) const;
  bool is_sender(std::int64_t rank) const;
  std::string group_name(Scope scope, std::int64_t rank) const;
  std::int64_t meeting_number(Scope scope, std::int64_t rank) const;
  std::int64_t meetings(Scope scope) const;
  Transfer transfer(std::int64_t rank, std::int64_t peer, std::int64_t step, std::int64_t at) const;
  std::vector<Transfer> transfers(std::int64_t rank, std::int64_t step, std::int64_t at) const;
  std::int64_t noisy(std::int64_t value, std::int64_t sigma_ppm, std::uint64_t key) const;
  std::uint64_t key(std::uint64_t what, std::int64_t rank, std::int64_t step,
                    std::int64_t at) const;
  const Moment& moment(std::int64_t rank, std::int64_t step, std::int64_t at) const;
  void play();

  ClusterShape shape_;
  std::vector<Moment> moments_;       // by step, collective and rank
  std::vector<std::int64_t> begins_;  // by step and rank
  std::vector<std::int64_t> step_ends_;
};

// Names used in both capture folders and rank summaries.
std::string host_uid(const ClusterShape& shape, std::int64_t rank);
std::string host_name(const ClusterShape& shape, std::int64_t rank);
std::string capture_name(std::int64_t rank);

}  // namespace msprof::test::ranks
