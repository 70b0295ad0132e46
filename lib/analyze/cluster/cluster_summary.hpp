// ClusterSummary holds the key figures of a cluster: ranks, steps, operators, collectives. Used by
// `msprof show`, `msprof compare` and the HTML page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/products/cluster_view.hpp"
#include "export/table/table_writers.hpp"

namespace msprof {

// Sums of rank times over steps.
struct StepSum {
  std::int64_t count = 0;  // number of rows added: ranks times steps
  int128 duration_ns = 0;
  int128 computing_ns = 0;
  int128 not_overlapped_ns = 0;
  int128 free_ns = 0;

  void add(const cluster::RankStepRow& row);
  double mean_ms(int128 StepSum::*part) const;
  double percent(int128 StepSum::*part) const;  // share of the duration
};

struct StepSummary {
  std::int64_t step = kNull;
  std::int64_t longest_ns = 0;      // a step lasts as long as its slowest rank
  std::int64_t longest_member = 0;  // the slowest rank
  StepSum sum;
};

struct OpSummary {
  std::string name;
  std::string type;
  std::string unit;
  std::int64_t count = 0;
  std::int64_t duration_ns = 0;
  std::int64_t median_ns = 0;  // from the histogram: the start of a bin of 1/64 octave
  std::int64_t p95_ns = 0;
  std::int64_t longest_ns = 0;
  std::int64_t longest_member = kNull;

  double mean_ns() const { return count == 0 ? 0 : double(duration_ns) / double(count); }
};

// Collectives with the same operation and group.
struct CollectiveSummary {
  std::string operation;
  std::string group;
  std::int64_t group_ranks = 0;
  std::int64_t count = 0;  // counted per rank
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
  std::vector<StepSummary> steps;              // in order; without steps one with step kNull
  std::vector<StepSum> by_member;              // sum over steps, by member id - 1
  StepSum mean;                                // over all ranks and steps
  std::vector<OpSummary> ops;                  // by total time, longest first
  std::vector<CollectiveSummary> collectives;  // by wait time, longest first
};

ClusterSummary cluster_summary(const cluster::ClusterView& view);

// Returns "64 ranks on 8 hosts, 10 steps". lacking_lines() lists what is missing; empty if
// complete.
std::string cluster_line(const ClusterSummary& summary);
std::vector<std::string> lacking_lines(const ClusterSummary& summary);
// Returns "mean step 12.345 ms: computing 61.2 %, not overlapped 20.1 %, free 18.7 %"; "not
// overlapped" is communication without computing.
std::string mean_line(const ClusterSummary& summary);

// A table of `show`. cluster_tables() returns all, with at most `top` rows each.
struct ClusterTable {
  std::string name;
  std::string title;
  TableRows rows;
};
std::vector<ClusterTable> cluster_tables(const cluster::ClusterView& view,
                                         const ClusterSummary& summary, std::size_t top);

}  // namespace msprof
