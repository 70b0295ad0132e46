// What a cluster.db is, in a line: for `list`, beside the captures.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "cluster/merge.hpp"

namespace msprof {

struct ListedCluster {
  std::filesystem::path file;
  std::int64_t time_ns = 0;   // begin of its first capture, else of the file, since 1970
  std::int64_t captures = 0;  // that it was made of
  cluster::Ranks ranks;
  std::uint64_t bytes = 0;
  std::string problem;  // why it cannot be read; empty: it can
};

// Reads its members only: whether the rest is damaged is not looked at.
ListedCluster describe_cluster(const std::filesystem::path& file);

// "64 ranks on 8 hosts", "7 ranks on 1 host, MISSING: 1 rank (5)", or what keeps it from being
// read.
std::string cluster_verdict(const ListedCluster& cluster);

}  // namespace msprof
