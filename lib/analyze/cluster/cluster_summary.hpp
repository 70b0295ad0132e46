// ClusterSummary: what a user of a cluster wants first: ranks, steps, operators, collectives. For
// `msprof show`, `msprof compare` and the page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/products/cluster_view.hpp"
#include "export/table_writers.hpp"

namespace msprof {

// Times of ranks in steps, added up.
struct StepSum {
  std::int64_t count = 0;  // ranks, or ranks times steps
  int128 duration_ns = 0;
  int128 computing_ns = 0;
  int128 not_overlapped_ns = 0;
  int128 free_ns = 0;

  void add(const cluster::RankStepRow& row);
  double mean_ms(int128 StepSum::*part) const;
  double percent(int128 StepSum::*part) const;  // of the duration
};

struct StepSummary {
  std::int64_t step = kNull;
  std::int64_t longest_ns = 0;      // the step lasts as long as its slowest rank
  std::int64_t longest_member = 0;  // which that is
  StepSum sum;
};

struct OpSummary {
  std::string name;
  std::string type;
  std::string unit;
  std::int64_t count = 0;
  std::int64_t duration_ns = 0;
  std::int64_t median_ns = 0;  // begins of bins of 1/64 octave
  std::int64_t p95_ns = 0;
  std::int64_t longest_ns = 0;
  std::int64_t longest_member = kNull;

  double mean_ns() const { return count == 0 ? 0 : double(duration_ns) / double(count); }
};

// The collectives of an operation and group.
struct CollectiveSummary {
  std::string operation;
  std::string group;
  std::int64_t group_ranks = 0;
  std::int64_t count = 0;  // of ranks' parts
  std::int64_t duration_ns = 0;
  std::int64_t wait_ns = 0;
  std::int64_t transit_ns = 0;
  std::int64_t size_bytes = 0;
};

struct ClusterSummary {
  cluster::Ranks ranks;
  std::int64_t captures = 0;
  bool has_detail = true;
  bool has_steps = false;
  std::vector<StepSummary> steps;  // in order; the whole runs, as step kNull, without steps
  std::vector<StepSum> by_member;  // over steps, by member id - 1
  StepSum mean;                    // over all of them
  std::vector<OpSummary> ops;      // the longest together first
  std::vector<CollectiveSummary> collectives;  // the longest waits first
};

ClusterSummary cluster_summary(const cluster::ClusterView& view);

// "64 ranks on 8 hosts, 10 steps", "complete" or what is missing: lines for people.
std::string cluster_line(const ClusterSummary& summary);
std::vector<std::string> lacking_lines(const ClusterSummary& summary);
// "mean step 12.345 ms: computing 61.2 %, not overlapped 20.1 %, free 18.7 %"; the second is
// communication without computing.
std::string mean_line(const ClusterSummary& summary);

// The tables of `show`, at most `top` rows each.
struct ClusterTable {
  std::string name;
  std::string title;
  TableRows rows;
};
std::vector<ClusterTable> cluster_tables(const cluster::ClusterView& view,
                                         const ClusterSummary& summary, std::size_t top);

}  // namespace msprof
