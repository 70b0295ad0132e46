// Parsing of the output of Slurm's commands, and distribution of captures over tasks.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "cluster/run/slurm_client.hpp"

using namespace msprof;
using namespace msprof::cluster;

TEST_CASE("the limits of a cluster are read, with Slurm's defaults if missing") {
  const SlurmLimits limits = parse_limits(
      "Configuration data as of 2026-11-23T10:00:00\n"
      "MaxArraySize            = 20001\n"
      "MaxJobCount             = 50000\n"
      "MaxJobId                = 67043328\n");
  CHECK(limits.max_array_size == 20001);
  CHECK(limits.max_job_count == 50000);
  for (const char* text : {"", "MaxArraySize\nMaxJobCount = many\n", "= 5\n"}) {
    CHECK(parse_limits(text).max_array_size == 1001);
    CHECK(parse_limits(text).max_job_count == 10'000);
  }
}

TEST_CASE("nodes are read once each, with their states") {
  const auto nodes = parse_nodes(
      "n1 64 idle\nn1 64 idle\nn2 8 mix*\nbad line\nn3 x idle\n\nn4 2 down*\nn5 2 idle~\n");
  REQUIRE(nodes.size() == 4);
  CHECK(nodes[0].name == "n1");
  CHECK(nodes[0].cpus == 64);
  CHECK(nodes[0].is_usable());
  CHECK_FALSE(nodes[1].is_usable());
  CHECK_FALSE(nodes[2].is_usable());
  CHECK(nodes[3].is_usable());
  for (const char* state : {"drain", "drng", "fail", "maint", "unk", "", "idle*"})
    CHECK_FALSE(SlurmNode{"n", 1, state}.is_usable());
  for (const char* state : {"alloc", "mix", "comp", "idle", "plnd"})
    CHECK(SlurmNode{"n", 1, state}.is_usable());
}

TEST_CASE("captures are spread over nodes, with more than one per task") {
  const SlurmLimits limits;
  const auto plan = [&](std::size_t captures, std::size_t nodes, std::size_t size = 0) {
    const SlurmGroups groups = plan_groups(captures, nodes, limits, size);
    // Every capture has a task, and no task is empty.
    CHECK(groups.count * groups.size >= captures);
    CHECK((groups.count == 0 || (groups.count - 1) * groups.size < captures));
    return std::pair(groups.count, groups.size);
  };
  CHECK(plan(0, 3) == std::pair<std::size_t, std::size_t>(0, 0));
  CHECK(plan(1, 3) == std::pair<std::size_t, std::size_t>(1, 2));
  CHECK(plan(8, 3) == std::pair<std::size_t, std::size_t>(3, 3));
  CHECK(plan(64, 8) == std::pair<std::size_t, std::size_t>(8, 8));
  CHECK(plan(64, 2) == std::pair<std::size_t, std::size_t>(8, 8));
  CHECK(plan(64, 64) == std::pair<std::size_t, std::size_t>(32, 2));
  CHECK(plan(64, 0) == std::pair<std::size_t, std::size_t>(8, 8));
  CHECK(plan(64, 8, 20) == std::pair<std::size_t, std::size_t>(4, 20));
}

TEST_CASE("an array fits the limits of the cluster and uses only part of its jobs") {
  SlurmLimits limits;
  CHECK(plan_groups(10'000, 1250, limits).count == 1000);
  limits.max_array_size = 100;
  for (const std::size_t captures : {99u, 100u, 801u, 10'000u, 1'000'000u}) {
    CHECK(plan_groups(captures, 10, limits).count <= 100);
    CHECK(plan_groups(captures, 10, limits, 2).count <= 100);
  }
  limits.max_array_size = 20'001;
  limits.max_job_count = 1000;
  CHECK(plan_groups(10'000, 1250, limits).count <= 500);
  limits.max_job_count = 0;
  CHECK(plan_groups(10'000, 1250, limits).count == 1);
}

TEST_CASE("indices of an array are written as ranges") {
  CHECK(index_list({}).empty());
  CHECK(index_list({0}) == "0");
  CHECK(index_list({0, 1, 2, 3}) == "0-3");
  CHECK(index_list({3, 4, 5, 9, 11, 12}) == "3-5,9,11-12");
}

TEST_CASE("invalid node lists and job numbers are never passed to Slurm") {
  const SlurmClient slurm({});
  for (const char* list : {"", "-a", "--help"})
    CHECK_THROWS_WITH(slurm.expand_nodes(list), Catch::Contains("is not a node list"));
  for (const char* job : {"", "-1", "17;x", "17_2", "$(x)"})
    CHECK_THROWS_WITH(slurm.read_job_nodes(job), Catch::Contains("is not a Slurm job number"));
}
