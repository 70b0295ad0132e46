#include "support/ranks/cluster_run.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <stdexcept>

namespace msprof::test::ranks {

namespace {

constexpr std::int64_t kBegin = 2'000'000;    // start of the first step
constexpr std::int64_t kPreparing = 100'000;  // time in a step before its first work
constexpr std::int64_t kBetweenSteps = 40'000;
constexpr std::int64_t kMeet = 1000;     // from the last arrival to the first transfer
constexpr std::int64_t kLeave = 1000;    // from the last transfer to the end
constexpr std::int64_t kTail = 2000;     // all ranks notice the end within this time
constexpr std::int64_t kLatency = 2000;  // latency of a transfer
constexpr std::int64_t kHccsBytesPerUs = 25'000, kRoceBytesPerUs = 12'000;
constexpr std::int64_t kFrequencyMhz = 1800, kLowFrequencyMhz = 1200;
constexpr std::int64_t kMillion = 1'000'000;

// Variation in ppm of a kernel, a chip, a transfer, and the preparation of a step.
constexpr std::int64_t kKernelSpread = 30'000, kChipSpread = 4'000, kLinkSpread = 30'000,
                       kPrepareSpread = 100'000;
// One in this many segments of computing takes 20 % longer.
constexpr std::uint64_t kHiccupIn = 5000;

enum What : std::uint64_t { kOfCompute, kOfChip, kOfLink, kOfTail, kOfPrepare, kOfHiccup, kOfOp };

std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

std::int64_t to_ticks(std::int64_t ns) {
  return ns / kTickNs * kTickNs;
}

std::size_t at_place(std::int64_t place) {
  return static_cast<std::size_t>(place);
}

}  // namespace

std::int64_t RankCollective::transit_ns() const {
  return std::accumulate(
      transfers.begin(), transfers.end(), std::int64_t{0},
      [](std::int64_t sum, const Transfer& one) { return sum + one.duration_ns; });
}

ClusterRun::ClusterRun(const ClusterShape& shape) : shape_(shape) {
  if (shape.ranks < 1 || shape.ranks_per_host < 1 || shape.steps < 1 || shape.collectives < 1 ||
      shape.operators < 1 || shape.compute_ns < 1000)
    throw std::runtime_error("a cluster needs ranks, steps, collectives and operators");
  const auto [from, to] = shape.faults.slow_link;
  if (from != kNoPartner) {
    bool is_used = false;
    for (std::int64_t at = 0; at < shape.collectives && from < shape.ranks; ++at)
      for (const Transfer& one : transfers(from, 0, at)) is_used = is_used || one.peer == to;
    if (!is_used) throw std::runtime_error("the ranks of the slow link exchange nothing");
  }
  play();
}

std::uint64_t ClusterRun::key(std::uint64_t what, std::int64_t rank, std::int64_t step,
                              std::int64_t at) const {
  const std::uint64_t base = mixed(shape_.seed * 16 + what);
  return mixed(base ^
               mixed(static_cast<std::uint64_t>(rank) << 40 ^
                     static_cast<std::uint64_t>(step) << 20 ^ static_cast<std::uint64_t>(at)));
}

// Approximately log-normal: exp of the sum of four uniform numbers, by the first terms of its
// series. Uses integers, so that every machine gets the same values.
std::int64_t ClusterRun::noisy(std::int64_t value, std::int64_t sigma_ppm,
                               std::uint64_t key) const {
  std::int64_t sum = -2 * 65535;
  for (int i = 0; i < 4; ++i) sum += static_cast<std::int64_t>(key >> (16 * i) & 0xffff);
  const std::int64_t deviation = sum * kMillion / 37837;  // one sigma is 65536 / sqrt(3)
  const std::int64_t shift = deviation * sigma_ppm / kMillion;
  const std::int64_t factor = kMillion + shift + shift * shift / (2 * kMillion);
  return to_ticks(value / 100 * factor / (kMillion / 100));
}

ClusterRun::Scope ClusterRun::choose_scope(std::int64_t at) const {
  if (at + 1 == shape_.collectives) return Scope::world;
  if (at % 10 == 5) return Scope::pair;
  if (!shape_.is_parallel) return Scope::world;
  return at % 3 == 2 && shape_.hosts() > 1 ? Scope::across : Scope::host;
}

ClusterRun::Place ClusterRun::find_place(Scope scope, std::int64_t rank) const {
  const std::int64_t width = shape_.ranks_per_host;
  const std::int64_t host = rank / width;
  const std::int64_t number = rank % width;
  if (scope == Scope::pair) scope = shape_.hosts() > 1 ? Scope::across : Scope::world;
  if (scope == Scope::world) return {0, rank, shape_.ranks};
  if (scope == Scope::host) return {host, number, std::min(width, shape_.ranks - host * width)};
  const bool is_in_last = number < shape_.ranks - (shape_.hosts() - 1) * width;
  return {number, host, shape_.hosts() - (is_in_last ? 0 : 1)};
}

std::int64_t ClusterRun::find_partner(std::int64_t rank) const {
  const bool is_by_host = shape_.hosts() > 1;
  const std::int64_t step = is_by_host ? shape_.ranks_per_host : 1;
  const std::int64_t partner = is_sender(rank) ? rank + step : rank - step;
  return partner < shape_.ranks ? partner : kNoPartner;
}

bool ClusterRun::is_sender(std::int64_t rank) const {
  return (shape_.hosts() > 1 ? shape_.host_number(rank) : rank) % 2 == 0;
}

std::string ClusterRun::group_name(Scope scope, std::int64_t rank) const {
  char name[48];
  const auto number = static_cast<int>(find_place(scope, rank).group);
  switch (scope) {
    case Scope::world:
      return "group_world";
    case Scope::host:
      std::snprintf(name, sizeof name, "group_tensor_%04d", number);
      return name;
    case Scope::across:
      std::snprintf(name, sizeof name, "group_data_%02d", number);
      return name;
    case Scope::pair:
      std::snprintf(name, sizeof name, "group_pipeline_%02d", number);
      return name;
  }
  return {};
}

// Index of the rank's collective among the concurrent ones.
std::int64_t ClusterRun::meeting_number(Scope scope, std::int64_t rank) const {
  if (scope != Scope::pair) return find_place(scope, rank).group;
  const std::int64_t partner = find_partner(rank);
  return partner == kNoPartner ? rank : std::min(rank, partner);
}

std::int64_t ClusterRun::meetings(Scope scope) const {
  switch (scope) {
    case Scope::world:
      return 1;
    case Scope::host:
      return shape_.hosts();
    case Scope::across:
      return shape_.ranks_per_host;
    case Scope::pair:
      return shape_.ranks;
  }
  return 0;
}

std::int64_t ClusterRun::frequency_mhz(std::int64_t rank) const {
  return rank == shape_.faults.low_frequency_rank ? kLowFrequencyMhz : kFrequencyMhz;
}

std::int64_t ClusterRun::compute_ns(std::int64_t rank, std::int64_t step, std::int64_t at) const {
  const RankFaults& faults = shape_.faults;
  std::int64_t ns = noisy(shape_.compute_ns, kChipSpread, key(kOfChip, rank, 0, 0));
  ns = noisy(ns, kKernelSpread, key(kOfCompute, rank, step, at));
  if (key(kOfHiccup, rank, step, at) % kHiccupIn == 0) ns += ns / 5;
  if (rank == faults.slow_rank || shape_.host_number(rank) == faults.slow_host)
    ns += ns * faults.slow_percent / 100;
  if (rank == faults.low_frequency_rank) ns = ns * kFrequencyMhz / kLowFrequencyMhz;
  if (faults.growing) ns += ns * step / 25;
  return to_ticks(ns);
}

bool ClusterRun::takes_part(std::int64_t rank, std::int64_t at) const {
  return choose_scope(at) != Scope::pair || find_partner(rank) != kNoPartner;
}

Transfer ClusterRun::transfer(std::int64_t rank, std::int64_t peer, std::int64_t step,
                              std::int64_t at) const {
  Transfer one;
  const bool is_near = shape_.host_number(rank) == shape_.host_number(peer);
  one.peer = peer;
  one.peer_local = find_place(choose_scope(at), peer).local_rank;
  one.link = is_near ? kHccsLink : kRoceLink;
  one.transport = is_near ? kSdma : kRdma;
  const std::int64_t rate = is_near ? kHccsBytesPerUs : kRoceBytesPerUs;
  // A power of two such that a rank's transfers take about a third of its computing time.
  const std::int64_t peers = std::min(shape_.ranks, shape_.ranks_per_host);
  one.size = 4096;
  while (one.size * peers * 1000 / kHccsBytesPerUs * 6 < shape_.compute_ns) one.size *= 2;
  one.size <<= at % 3;
  std::int64_t ns = kLatency + one.size * 1000 / rate;
  ns = noisy(ns, kLinkSpread, key(kOfLink, rank, step, at << 10 ^ (peer - rank) * 7));
  const bool is_slow = std::pair(rank, peer) == shape_.faults.slow_link;
  one.duration_ns = is_slow ? ns * shape_.faults.slow_link_factor : ns;
  return one;
}

std::vector<Transfer> ClusterRun::transfers(std::int64_t rank, std::int64_t step,
                                            std::int64_t at) const {
  const Scope scope = choose_scope(at);
  const std::int64_t width = shape_.ranks_per_host;
  std::vector<Transfer> all;
  if (scope == Scope::pair) {
    const std::int64_t partner = find_partner(rank);
    if (is_sender(rank) && partner != kNoPartner) all.push_back(transfer(rank, partner, step, at));
    return all;
  }
  if (scope != Scope::across) {
    const std::int64_t first = shape_.host_number(rank) * width;
    for (std::int64_t peer = first; peer < std::min(first + width, shape_.ranks); ++peer)
      if (peer != rank) all.push_back(transfer(rank, peer, step, at));
  }
  if (scope != Scope::host && shape_.hosts() > 1) {
    const std::int64_t next = rank + width < shape_.ranks ? rank + width : rank % width;
    if (next != rank) all.push_back(transfer(rank, next, step, at));
  }
  return all;
}

const ClusterRun::Moment& ClusterRun::moment(std::int64_t rank, std::int64_t step,
                                             std::int64_t at) const {
  return moments_[at_place((step * shape_.collectives + at) * shape_.ranks + rank)];
}

void ClusterRun::play() {
  const std::int64_t ranks = shape_.ranks;
  moments_.resize(at_place(shape_.steps * shape_.collectives * ranks));
  begins_.resize(at_place(shape_.steps * ranks));
  step_ends_.resize(at_place(shape_.steps * ranks));
  std::vector<std::int64_t> ready(at_place(ranks), kBegin);
  std::vector<std::int64_t> last, end;
  for (std::int64_t step = 0; step < shape_.steps; ++step) {
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      begins_[at_place(step * ranks + rank)] = ready[at_place(rank)];
      ready[at_place(rank)] = first_work(rank, step);
    }
    for (std::int64_t at = 0; at < shape_.collectives; ++at) {
      const Scope scope = choose_scope(at);
      last.assign(at_place(meetings(scope)), 0);
      end.assign(last.size(), 0);
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        ready[at_place(rank)] += compute_ns(rank, step, at);
        std::int64_t& latest = last[at_place(meeting_number(scope, rank))];
        latest = std::max(latest, ready[at_place(rank)]);
      }
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        const std::size_t meeting = at_place(meeting_number(scope, rank));
        std::int64_t ns = 0;
        for (const Transfer& one : transfers(rank, step, at)) ns += one.duration_ns;
        end[meeting] = std::max(end[meeting], last[meeting] + kMeet + ns + kLeave);
      }
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        if (!takes_part(rank, at)) continue;
        const std::size_t meeting = at_place(meeting_number(scope, rank));
        const std::int64_t tail =
            static_cast<std::int64_t>(key(kOfTail, rank, step, at) % (kTail / kTickNs)) * kTickNs;
        const std::int64_t arrive = ready[at_place(rank)];
        ready[at_place(rank)] = end[meeting] + tail;
        moments_[at_place((step * shape_.collectives + at) * ranks + rank)] = {
            arrive, static_cast<std::uint32_t>(last[meeting] + kMeet - arrive),
            static_cast<std::uint32_t>(end[meeting] + tail - arrive)};
      }
    }
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      ready[at_place(rank)] += compute_ns(rank, step, shape_.collectives);
      step_ends_[at_place(step * ranks + rank)] = ready[at_place(rank)];
      ready[at_place(rank)] += kBetweenSteps;
    }
  }
}

std::int64_t ClusterRun::step_begin(std::int64_t rank, std::int64_t step) const {
  return begins_[at_place(step * shape_.ranks + rank)];
}

std::int64_t ClusterRun::step_end(std::int64_t rank, std::int64_t step) const {
  return step_ends_[at_place(step * shape_.ranks + rank)];
}

std::int64_t ClusterRun::first_work(std::int64_t rank, std::int64_t step) const {
  return step_begin(rank, step) + noisy(kPreparing, kPrepareSpread, key(kOfPrepare, rank, step, 0));
}

RankCollective ClusterRun::collective(std::int64_t rank, std::int64_t step, std::int64_t at) const {
  static constexpr std::string_view kOperations[] = {"hcom_allReduce_", "hcom_allGather_",
                                                     "hcom_reduceScatter_"};
  const Scope scope = choose_scope(at);
  const Place place = find_place(scope, rank);
  const Moment& when = moment(rank, step, at);
  RankCollective one;
  one.operation = kOperations[at + 1 == shape_.collectives ? 0 : at % 3];
  if (scope == Scope::pair) one.operation = is_sender(rank) ? "hcom_send_" : "hcom_receive_";
  one.group = group_name(scope, rank);
  one.local_rank = place.local_rank;
  one.rank_count = place.rank_count;
  one.arrive = when.arrive;
  one.all_there = when.arrive + when.all_there;
  one.end = when.arrive + when.end;
  one.transfers = transfers(rank, step, at);
  if (scope != Scope::pair && at % 4 == 1) one.overlapped_ns = to_ticks(one.transit_ns() / 2);
  return one;
}

std::vector<ClusterRun::Membership> ClusterRun::list_groups(std::int64_t rank) const {
  std::set<Scope> scopes;
  for (std::int64_t at = 0; at < shape_.collectives; ++at)
    if (takes_part(rank, at)) scopes.insert(choose_scope(at));
  std::vector<Membership> groups;
  for (const Scope scope : scopes) {
    const Place place = find_place(scope, rank);
    groups.push_back({group_name(scope, rank), place.local_rank, place.rank_count});
  }
  return groups;
}

std::int64_t ClusterRun::operator_ns(std::int64_t rank, std::int64_t op,
                                     std::int64_t number) const {
  const std::int64_t usual =
      2000 + static_cast<std::int64_t>(mixed(static_cast<std::uint64_t>(op)) % 60'000);
  return noisy(usual, kKernelSpread, key(kOfOp, rank, op, number));
}

std::string host_uid(const ClusterShape& shape, std::int64_t rank) {
  return std::to_string(1'000'000'000 + shape.host_number(rank));
}

std::string host_name(const ClusterShape& shape, std::int64_t rank) {
  char name[48];
  std::snprintf(name, sizeof name, "node-%04d", static_cast<int>(shape.host_number(rank)));
  return name;
}

std::string capture_name(std::int64_t rank) {
  char name[80];
  std::snprintf(name, sizeof name, "PROF_%06d_20231114221320000_RANK%012d",
                static_cast<int>(rank + 1), static_cast<int>(rank));
  for (char* letter = name + 33; *letter != 0; ++letter) {
    if (*letter >= '0' && *letter <= '9') *letter = static_cast<char>('A' + (*letter - '0'));
  }
  return name;
}

}  // namespace msprof::test::ranks
