// What is said about a cluster: planted faults are named, and nothing else.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <iostream>
#include <string>

#include "cluster/cluster_analysis.hpp"
#include "cluster/cluster_file.hpp"
#include "support/temp_folder.hpp"

namespace msprof::cluster {
namespace {

using test::ranks::ClusterShape;

std::string printed(const Part& part, const ClusterAnalysis& a) {
  const auto names = part.names();
  const auto members = part.members();
  const auto name = [&](std::int64_t id) { return id < 1 ? "-" : names[static_cast<std::size_t>(id - 1)]; };
  const auto rank = [&](std::int64_t id) { return id < 1 ? -1 : members[static_cast<std::size_t>(id - 1)].rank; };
  std::string out;
  for (auto& h : a.clocks.hosts())
    out += "host " + name(h.host_name_id) + " " + std::string(clock_state_name(h.state)) + " " + std::to_string(h.offset_ns) + " spread " + std::to_string(h.spread_ns) + " n " + std::to_string(h.collective_count) + "\n";
  for (auto& s : a.stragglers.ranks)
    out += "slow rank " + std::to_string(rank(s.id)) + " " + std::string(late_cause_name(s.cause)) + " votes " + std::to_string(s.votes) + "/" + std::to_string(s.collective_count) + " " + name(s.group_name_id) + " delay " + std::to_string(s.delay_ns) + " of " + std::to_string(s.elapsed_ns) + " comp " + std::to_string(s.computing_ns) + " free " + std::to_string(s.free_ns) + "\n";
  for (auto& s : a.stragglers.hosts)
    out += "slow host " + name(s.id) + " " + std::string(late_cause_name(s.cause)) + " votes " + std::to_string(s.votes) + "/" + std::to_string(s.collective_count) + " " + name(s.group_name_id) + " delay " + std::to_string(s.delay_ns) + " of " + std::to_string(s.elapsed_ns) + " comp " + std::to_string(s.computing_ns) + " free " + std::to_string(s.free_ns) + "\n";
  for (auto& l : a.slow_links)
    out += "slow link " + std::to_string(rank(l.source.member_id)) + "-" + std::to_string(rank(l.target.member_id)) + " " + std::to_string(l.bytes_per_s) + " vs " + std::to_string(l.median_bytes_per_s) + " of " + std::to_string(l.link_count) + "\n";
  out += "growth " + std::to_string(a.growth.growth_percent) + " z " + std::to_string(a.growth.trend.z) + " growing " + std::to_string(a.growth.is_growing) + " part " + std::string(step_part_name(a.growth.part)) + " steps " + std::to_string(a.growth.step_count) + "\n";
  return out;
}

TEST_CASE("Nothing is named in a part without collectives and steps") {}

TEST_CASE("scratch", "[.]") {
  for (std::int64_t n : {8, 64, 1024}) for (bool parallel : {false, true}) for (int fault = 0; fault < 7; ++fault) {
    if (n == 1024 && std::getenv("SMALL")) continue;
    ClusterShape shape;
    shape.ranks = n; shape.steps = 6; shape.is_parallel = parallel;
    if (n == 8) shape.ranks_per_host = 4;
    if (fault == 1) shape.faults.slow_rank = 5;
    if (fault == 2) shape.faults.slow_host = 1;
    if (fault == 3) shape.faults.slow_link = {1, 2};
    if (fault == 4) { shape.faults.late_host = 1; shape.faults.offset_us = 5000; }
    if (fault == 5) shape.faults.growing = true;
    if (fault == 6) { shape.faults.slow_rank = 5; shape.faults.slow_percent = 10; }
    const test::TempFolder folder;
    const Part part = test::cluster_of(folder.path(), shape);
    std::string text = printed(part, analyse(part));
    if (n > 64) { std::string cut; std::size_t at = 0, lines = 0; for (std::size_t end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) { auto l = text.substr(at, end - at + 1); if (l.starts_with("host") && ++lines > 3) continue; cut += l; } text = cut; }
    std::cout << "== " << n << " parallel " << parallel << " fault " << fault << "\n" << text << std::flush;
  }
}

TEST_CASE("scratch2", "[.]") {
  const int seeds = std::atoi(std::getenv("SEEDS"));
  const std::int64_t ranks = std::atoi(std::getenv("RANKS"));
  int bad[8] = {}, runs = 0;
  for (int seed = 1; seed <= seeds; ++seed) for (bool parallel : {false, true}) for (int fault = 0; fault < 6; ++fault) {
    if (std::getenv("FAULT") && std::atoi(std::getenv("FAULT")) != fault) continue;
    ClusterShape shape;
    shape.seed = static_cast<std::uint64_t>(seed) * 7919;
    shape.ranks = ranks; shape.steps = 6; shape.is_parallel = parallel;
    if (ranks == 8) shape.ranks_per_host = 4;
    if (fault == 1) shape.faults.slow_rank = 5;
    if (fault == 2) shape.faults.slow_host = 1;
    if (fault == 3) shape.faults.slow_link = {1, 2};
    if (fault == 4) { shape.faults.late_host = 1; shape.faults.offset_us = 5000; }
    if (fault == 5) shape.faults.growing = true;
    const test::TempFolder folder;
    const Part part = test::cluster_of(folder.path(), shape);
    const auto a = analyse(part);
    const auto members = part.members();
    bool ok = true;
    if (fault == 1) ok = a.stragglers.ranks.size() == 1 && members[static_cast<std::size_t>(a.stragglers.ranks[0].id - 1)].rank == 5 && a.stragglers.hosts.empty();
    else if (fault == 2) ok = a.stragglers.ranks.empty() && a.stragglers.hosts.size() == 1 && part.names()[static_cast<std::size_t>(a.stragglers.hosts[0].id - 1)] == test::ranks::host_uid(shape, shape.ranks_per_host);
    else ok = a.stragglers.ranks.empty() && a.stragglers.hosts.empty();
    ok = ok && a.slow_links.size() == (fault == 3 ? 1 : 0) && a.growth.is_growing == (fault == 5);
    for (auto& h : a.clocks.hosts()) ok = ok && h.offset_ns != kNull && h.spread_ns < 10000;
    ++runs;
    if (!ok) { ++bad[fault]; std::string text = printed(part, a), cut; std::size_t at = 0; for (std::size_t end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) { auto l = text.substr(at, end - at + 1); if (!l.starts_with("host")) cut += l; } std::cout << "== seed " << seed << " parallel " << parallel << " fault " << fault << "\n" << cut << std::flush; }
  }
  std::cout << runs << " runs, bad by fault:"; for (int b : bad) std::cout << ' ' << b; std::cout << std::endl;
}

}  // namespace
}  // namespace msprof::cluster
