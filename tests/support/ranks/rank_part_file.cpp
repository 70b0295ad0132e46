#include "support/ranks/rank_part_file.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "cluster/part.hpp"

namespace msprof::test::ranks {

using namespace msprof::cluster;

namespace {

constexpr std::int64_t kBeginNs = 1'700'000'000'000'000'000;
constexpr std::int64_t kExecutionsInStep = 2;  // executions of an operator
constexpr std::int64_t kHostHz = 100'000'000, kTickHz = 50'000'000;
constexpr std::int64_t kPeakBytes = std::int64_t{8} << 30;  // as in memory records

class PartMaker {
 public:
  PartMaker(const ClusterRun& run, std::int64_t rank)
      : run_(run),
        shape_(run.shape()),
        rank_(rank),
        clock_ns_(kBeginNs + shape_.clock_error_ns(rank)) {}

  void write(const std::filesystem::path& file) {
    collect_collectives();
    collect_names();
    PartWriter part(file, names_);
    part.add(member());
    write_groups(part);
    write_steps(part);
    write_collectives(part);
    write_operators(part);
    part.publish({});
  }

 private:
  struct Happened {
    std::int64_t step = 0;
    RankCollective what;
  };

  std::int64_t id(std::string_view text) const {
    return std::lower_bound(names_.begin(), names_.end(), text) - names_.begin() + 1;
  }

  static std::string operator_name(std::int64_t op) {
    char name[48];
    std::snprintf(name, sizeof name, "aclnnKernel_%04d_Matmul", static_cast<int>(op));
    return name;
  }

  void collect_collectives() {
    for (std::int64_t step = 0; step < shape_.steps; ++step) {
      for (std::int64_t at = 0; at < shape_.collectives; ++at) {
        if (run_.takes_part(rank_, at))
          happened_.push_back({step, run_.collective(rank_, step, at)});
      }
    }
    std::stable_sort(happened_.begin(), happened_.end(), [](const Happened& a, const Happened& b) {
      return std::tie(a.step, a.what.group, a.what.operation) <
             std::tie(b.step, b.what.group, b.what.operation);
    });
  }

  void collect_names() {
    std::set<std::string> names = {host_uid(shape_, rank_),
                                   host_name(shape_, rank_),
                                   capture_name(rank_),
                                   "Ascend910B",
                                   "MatMulV2",
                                   "AI_CORE",
                                   "complete"};
    for (const Happened& one : happened_) {
      names.insert(one.what.group);
      names.emplace(one.what.operation);
    }
    for (std::int64_t op = 0; op < shape_.operators; ++op) names.insert(operator_name(op));
    names_.assign(names.begin(), names.end());
  }

  MemberRow member() const {
    MemberRow row;
    row.rank = rank_;
    row.host_name_id = id(host_uid(shape_, rank_));
    row.hostname_name_id = id(host_name(shape_, rank_));
    row.device_id = rank_ % shape_.ranks_per_host;
    row.capture_name_id = id(capture_name(rank_));
    row.chip_name_id = id("Ascend910B");
    row.verdict_text_name_id = id("complete");
    row.begin_ns = clock_ns_;
    row.end_ns = clock_ns_ + run_.collection_us(rank_) * 1000;
    row.host_frequency_hz = kHostHz;
    row.tick_frequency_hz = kTickHz;
    row.task_count = shape_.tasks;
    row.min_frequency_mhz = row.max_frequency_mhz = run_.frequency_mhz(rank_);
    row.memory_peak_bytes = kPeakBytes;
    return row;
  }

  void write_groups(PartWriter& part) const {
    std::map<std::int64_t, GroupMemberRow> rows;
    for (const ClusterRun::Membership& group : run_.list_groups(rank_)) {
      GroupMemberRow row;
      row.group_name_id = id(group.group);
      row.member_id = 1;
      row.local_rank = group.local_rank;
      row.rank_count = group.rank_count;
      rows[row.group_name_id] = row;
    }
    for (const auto& [name, row] : rows) part.add(row);
  }

  void write_steps(PartWriter& part) const {
    RankStepRow between;
    between.member_id = 1;
    between.begin_ns = clock_ns_ + run_.step_end(rank_, 0);
    for (std::int64_t step = 1; step < shape_.steps; ++step)
      between.free_ns += run_.step_begin(rank_, step) - run_.step_end(rank_, step - 1);
    between.duration_ns = between.free_ns;
    if (between.duration_ns > 0) part.add(between);
    auto one = happened_.begin();
    for (std::int64_t step = 0; step < shape_.steps; ++step) {
      RankStepRow row;
      row.step = step + kFirstStep;
      row.member_id = 1;
      const std::int64_t begin = run_.step_begin(rank_, step);
      row.begin_ns = clock_ns_ + begin;
      row.duration_ns = run_.step_end(rank_, step) - begin;
      row.preparing_ns = run_.first_work(rank_, step) - begin;
      for (std::int64_t at = 0; at <= shape_.collectives; ++at)
        row.computing_ns += run_.compute_ns(rank_, step, at);
      for (; one != happened_.end() && one->step == step; ++one) {
        const std::int64_t ns = one->what.end - one->what.arrive;
        row.communication_ns += ns;
        row.computing_ns += one->what.overlapped_ns;
        row.not_overlapped_ns += ns - one->what.overlapped_ns;
        if (!one->what.is_receive()) continue;
        row.bubble_ns += ns;
        row.not_overlapped_receive_ns += ns;
      }
      row.free_ns = row.duration_ns - row.computing_ns - row.not_overlapped_ns;
      part.add(row);
    }
  }

  // Sets the common fields of the rows of one collective, or of a step's collectives of one kind.
  template <typename Row>
  Row make_row(const Happened& one) const {
    Row row;
    row.step = one.step + kFirstStep;
    row.group_name_id = id(one.what.group);
    row.operation_name_id = id(one.what.operation);
    row.member_id = 1;
    return row;
  }

  static bool is_same_kind(const Happened& a, const Happened& b) {
    return a.step == b.step && a.what.group == b.what.group && a.what.operation == b.what.operation;
  }

  void write_collectives(PartWriter& part) const {
    std::vector<std::int64_t> sequences;
    for (std::size_t i = 0; i < happened_.size(); ++i) {
      const bool goes_on = i > 0 && is_same_kind(happened_[i - 1], happened_[i]);
      sequences.push_back(goes_on ? sequences.back() + 1 : 0);
      const RankCollective& what = happened_[i].what;
      auto row = make_row<RankCollectiveRow>(happened_[i]);
      row.sequence = sequences.back();
      row.start_ns = clock_ns_ + what.arrive;
      row.duration_ns = what.end - what.arrive;
      row.transit_ns = what.transit_ns();
      row.wait_ns = row.duration_ns - row.transit_ns;
      row.synchronization_ns = what.all_there - what.arrive;
      if (what.transfers.empty()) row.synchronization_ns = row.wait_ns;
      for (const Transfer& one : what.transfers) row.size_bytes += one.size;
      part.add(row);
    }
    for (std::size_t i = 0; i < happened_.size(); ++i)
      write_packets(part, happened_[i], sequences[i]);
    for (std::size_t i = 0; i < happened_.size();) i = write_links(part, i);
  }

  void write_packets(PartWriter& part, const Happened& one, std::int64_t sequence) const {
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, PacketRow> rows;
    for (const Transfer& transfer : one.what.transfers) {
      PacketRow& row = rows.try_emplace({transfer.link, transfer.transport, transfer.size},
                                        make_row<PacketRow>(one))
                           .first->second;
      row.sequence = sequence;
      row.link_type = transfer.link;
      row.transport_type = transfer.transport;
      row.size_bytes = transfer.size;
      ++row.count;
      row.duration_ns += transfer.duration_ns;
    }
    for (const auto& [key, row] : rows) part.add(row);
  }

  // Writes the links of a step's collectives of one kind, which start at index `first`; returns the
  // index after them.
  std::size_t write_links(PartWriter& part, std::size_t first) const {
    using LinkRowKey = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
    std::map<LinkRowKey, LinkRow> rows;
    std::size_t at = first;
    for (; at < happened_.size() && is_same_kind(happened_[first], happened_[at]); ++at) {
      for (const Transfer& transfer : happened_[at].what.transfers) {
        std::int64_t size_class = 0;
        while (transfer.size >> (size_class + 1) != 0) ++size_class;
        const LinkRowKey key(transfer.peer_local, transfer.link, transfer.transport, size_class);
        LinkRow& row = rows.try_emplace(key, make_row<LinkRow>(happened_[at])).first->second;
        row.source_rank = happened_[at].what.local_rank;
        row.target_rank = transfer.peer_local;
        row.link_type = transfer.link;
        row.transport_type = transfer.transport;
        row.size_class = size_class;
        ++row.count;
        row.size_bytes += transfer.size;
        row.duration_ns += transfer.duration_ns;
      }
    }
    for (const auto& [key, row] : rows) part.add(row);
    return at;
  }

  void write_operators(PartWriter& part) const {
    for (std::int64_t op = 0; op < shape_.operators; ++op) {
      OpTotal total;
      total.name_id = id(operator_name(op));
      total.type_name_id = id("MatMulV2");
      total.unit_name_id = id("AI_CORE");
      for (std::int64_t i = 0; i < shape_.steps * kExecutionsInStep; ++i)
        total.add(run_.operator_ns(rank_, op, i), 1);
      part.add(total);
    }
  }

  const ClusterRun& run_;
  const ClusterShape& shape_;
  std::int64_t rank_;
  std::int64_t clock_ns_;
  std::vector<Happened> happened_;  // in the order of a rank summary
  std::vector<std::string> names_;
};

}  // namespace

void write_rank_part_file(const std::filesystem::path& file, const ClusterRun& run,
                          std::int64_t rank) {
  PartMaker(run, rank).write(file);
}

std::string part_name(std::int64_t rank) {
  char name[32];
  std::snprintf(name, sizeof name, "rank_%05d.part", static_cast<int>(rank));
  return name;
}

}  // namespace msprof::test::ranks
