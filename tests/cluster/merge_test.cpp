// Merging gives the same bytes in any order and grouping; error messages name inputs that cannot be
// merged.
#include "cluster/merge.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "cluster/part_files.hpp"
#include "cluster/part_rows.hpp"
#include "support/prof/run_ops.hpp"
#include "support/ranks/rank_part_file.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

namespace msprof::cluster {

namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using test::prof::Random;
using test::ranks::ClusterRun;
using test::ranks::ClusterShape;
using MergedLines = std::vector<std::string>;

ClusterShape small_cluster(std::int64_t ranks) {
  ClusterShape shape;
  shape.ranks = ranks;
  shape.ranks_per_host = 8;
  shape.steps = 2;
  shape.collectives = 7;
  shape.operators = 5;
  shape.is_parallel = true;
  shape.faults.late_host = 1;
  shape.faults.offset_us = 700;
  return shape;
}

// The rank summaries of a cluster in a temporary folder.
class ClusterParts {
 public:
  explicit ClusterParts(const ClusterShape& shape) {
    const ClusterRun run(shape);
    for (std::int64_t rank = 0; rank < shape.ranks; ++rank) {
      if (shape.faults.missing.count(rank) != 0) continue;
      paths.push_back(folder_ / test::ranks::part_name(rank));
      test::ranks::write_rank_part_file(paths.back(), run, rank);
    }
  }
  fs::path path(const std::string& name) const { return folder_ / name; }
  const fs::path& folder() const { return folder_.path(); }

  std::vector<fs::path> paths;

 private:
  TempFolder folder_;
};

std::string merged_bytes(const std::vector<fs::path>& parts, const fs::path& output,
                         const MergeOptions& options = {}) {
  const MergeReport report = merge_parts(parts, output, options);
  CHECK(report.merged == parts.size());
  CHECK(report.refused.empty());
  return test::read_file(output);
}

// Merges in random order: groups of 2 to 12 are merged until one is left. Nodes below the root may
// keep more than `detail_rows` rows.
std::string merged_by_tree(const ClusterParts& parts, Random& random, std::int64_t detail_rows) {
  std::vector<fs::path> level = parts.paths;
  int made = 0;
  while (level.size() > 1) {
    const std::size_t most = std::min<std::size_t>(level.size(), 2 + random.below(11));
    std::vector<fs::path> some;
    while (some.size() < most) {
      const std::size_t at = random.below(level.size());
      some.push_back(level[at]);
      level.erase(level.begin() + static_cast<std::ptrdiff_t>(at));
    }
    const fs::path node = parts.path("node_" + std::to_string(made++));
    MergeOptions options;
    if (detail_rows > 0) {
      options.detail_rows =
          level.empty() ? detail_rows
                        : detail_rows + static_cast<std::int64_t>(
                                            random.below(static_cast<std::uint64_t>(detail_rows)));
    }
    merge_parts(some, node, options);
    level.push_back(node);
  }
  return test::read_file(level.front());
}

std::int64_t count_rows(const fs::path& part, const std::string& table) {
  return std::stoll(test::query(part, "SELECT count(*) FROM " + table).front());
}

std::string refused_as(const MergeReport& report, const fs::path& path) {
  for (const RefusedPart& part : report.refused)
    if (part.path == path) return part.reason;
  return {};
}

test::RunResult run_merge(const std::vector<fs::path>& parts, const fs::path& output,
                          const MergedLines& more = {}) {
  MergedLines words = {"merge", "--output", output.string()};
  for (const fs::path& part : parts) words.push_back(part.string());
  words.insert(words.end(), more.begin(), more.end());
  return test::run_msprof(words);
}

}  // namespace

TEST_CASE("50 parts merged in 20 random orders give the same bytes, with ranks and with totals") {
  const ClusterParts parts(small_cluster(50));
  const std::string all = merged_bytes(parts.paths, parts.path("all"));
  const std::int64_t rows = count_rows(parts.path("all"), "rank_collective");
  // the last host has two ranks without a partner to receive from
  CHECK(rows == 50 * 2 * 7 - 2 * 2);
  const std::string totals = merged_bytes(parts.paths, parts.path("totals"), {rows / 3, {}});
  CHECK(count_rows(parts.path("totals"), "rank_collective") == 0);
  Random random(18);
  for (int tree = 0; tree < 20; ++tree) {
    INFO("tree " << tree);
    const bool keeps_all = tree % 2 == 0;
    CHECK((merged_by_tree(parts, random, keeps_all ? 0 : rows / 3) == (keeps_all ? all : totals)));
  }
}

TEST_CASE("parts above the limit are merged in groups, with the same bytes") {
  ClusterShape shape = small_cluster(230);
  shape.steps = 1;
  shape.collectives = 2;
  shape.operators = 2;
  const ClusterParts parts(shape);
  const std::string all = merged_bytes(parts.paths, parts.path("all"));
  CHECK(test::query(parts.path("all"), "SELECT count(*), min(rank), max(rank) FROM member") ==
        MergedLines{"230|0|229"});
  std::vector<fs::path> halves;
  for (const bool is_even : {false, true}) {
    std::vector<fs::path> half;
    for (std::size_t i = 0; i < parts.paths.size(); ++i)
      if ((i % 2 == 0) == is_even) half.push_back(parts.paths[i]);
    halves.push_back(parts.path(is_even ? "even" : "odd"));
    merge_parts(half, halves.back(), {});
  }
  CHECK((merged_bytes(halves, parts.path("both")) == all));
  CHECK(test::names_in(parts.folder()).size() == 230 + 4);  // and no intermediate files
}

TEST_CASE("merging a single part or a merged part does not change it") {
  const ClusterParts parts(small_cluster(3));
  const std::string one = test::read_file(parts.paths[1]);
  CHECK((merged_bytes({parts.paths[1]}, parts.path("alone")) == one));
  const std::string all = merged_bytes(parts.paths, parts.path("all"));
  CHECK((merged_bytes({parts.path("all")}, parts.path("again")) == all));
  const std::string totals = merged_bytes(parts.paths, parts.path("totals"), {0, {}});
  CHECK((merged_bytes({parts.path("totals")}, parts.path("again")) == totals));
  // Output and input are the same file.
  CHECK((merged_bytes({parts.path("all")}, parts.path("all")) == all));
}

TEST_CASE("a merged part has the rows of its parts") {
  const ClusterParts parts(small_cluster(20));
  merge_parts(parts.paths, parts.path("all"), {});
  for (const char* table : {"group_member", "rank_step", "rank_collective", "packet", "link"}) {
    std::int64_t rows = 0;
    for (const fs::path& part : parts.paths) rows += count_rows(part, table);
    CHECK(count_rows(parts.path("all"), table) == rows);
    // Members are numbered by rank.
    CHECK(test::query(
              parts.path("all"),
              "SELECT count(*) FROM " + std::string(table) +
                  " JOIN member ON member.id = member_id WHERE member.rank <> member_id - 1") ==
          MergedLines{"0"});
  }
  for (std::size_t rank = 0; rank < parts.paths.size(); rank += 7) {
    const fs::path& part = parts.paths[rank];
    test::query(part, "UPDATE rank_collective SET member_id = " + std::to_string(rank + 1));
    CHECK(test::part_rows(parts.path("all"), "rank_collective",
                          "member_id = " + std::to_string(rank + 1)) ==
          test::part_rows(part, "rank_collective"));
  }
  // Operator totals are over all ranks.
  CHECK(test::query(parts.path("all"), "SELECT count(*), sum(count) FROM op_total") ==
        MergedLines{"5|" + std::to_string(20 * 5 * 2 * 2)});
}

TEST_CASE("totals that replace single ranks equal those computed by SQL") {
  const ClusterParts parts(small_cluster(19));
  merge_parts(parts.paths, parts.path("all"), {});
  merge_parts(parts.paths, parts.path("totals"), {1, {}});
  const fs::path all = parts.path("all");
  const fs::path totals = parts.path("totals");
  const std::string key = "step, group_name_id, operation_name_id";
  CHECK(test::query(totals, "SELECT " + key +
                                ", member_id, count, first_start_ns, duration_ns, wait_ns,"
                                " synchronization_ns, transit_ns, size_bytes"
                                " FROM collective_total ORDER BY id") ==
        test::query(all, "SELECT " + key +
                             ", member_id, count(*), min(start_ns), sum(duration_ns), sum(wait_ns),"
                             " sum(synchronization_ns), sum(transit_ns), sum(size_bytes)"
                             " FROM rank_collective GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"));
  const auto extreme = [&](const char* order, int place) {
    return std::string(
               "(SELECT i.duration_ns || '/' || i.member_id FROM rank_collective AS i WHERE"
               " (i.step, i.group_name_id, i.operation_name_id, i.sequence) = (o.step,"
               " o.group_name_id, o.operation_name_id, o.sequence) ORDER BY i.duration_ns ") +
           order + ", i.member_id LIMIT 1 OFFSET " + std::to_string(place) + ")";
  };
  std::string extremes;
  for (const char* order : {"ASC", "DESC"})
    for (int place = 0; place < 3; ++place) extremes += ", " + extreme(order, place);
  MergedLines found = test::query(
      totals, "SELECT " + key +
                  ", sequence, rank_count, duration_ns, square_high, square_low,"
                  " shortest_1_ns || '/' || shortest_1_member, shortest_2_ns || '/' ||"
                  " shortest_2_member, shortest_3_ns || '/' || shortest_3_member, longest_1_ns ||"
                  " '/' || longest_1_member, longest_2_ns || '/' || longest_2_member, longest_3_ns"
                  " || '/' || longest_3_member FROM collective ORDER BY id");
  CHECK(found == test::query(all, "SELECT " + key +
                                      ", sequence, count(*), sum(duration_ns), 0,"
                                      " sum(duration_ns * duration_ns)" +
                                      extremes +
                                      " FROM rank_collective AS o GROUP BY 1, 2, 3, 4"
                                      " ORDER BY 1, 2, 3, 4"));
  // A collective of two ranks fills only two of the three fields.
  CHECK(std::any_of(found.begin(), found.end(),
                    [](const std::string& row) { return row.ends_with("|NULL"); }));
  CHECK(test::query(totals, "SELECT " + key +
                                ", sequence, host_name_id, rank_count, first_start_ns,"
                                " last_start_ns, last_end_ns FROM collective_host ORDER BY id") ==
        test::query(all, "SELECT " + key +
                             ", sequence, host_name_id, count(*), min(start_ns), max(start_ns),"
                             " max(start_ns + duration_ns) FROM rank_collective"
                             " JOIN member ON member.id = member_id GROUP BY 1, 2, 3, 4, 5"
                             " ORDER BY 1, 2, 3, 4, 5"));
  CHECK(test::query(totals, "SELECT " + key +
                                ", sequence, member_id, link_type, transport_type, size_bytes,"
                                " count, duration_ns FROM packet ORDER BY id") ==
        test::query(all, "SELECT " + key +
                             ", NULL, member_id, link_type, transport_type, size_bytes, sum(count),"
                             " sum(duration_ns) FROM packet GROUP BY 1, 2, 3, 5, 6, 7, 8"
                             " ORDER BY 1, 2, 3, 5, 6, 7, 8"));
}

TEST_CASE("equal durations are ordered by rank, and long ones do not overflow") {
  const ClusterParts parts(small_cluster(12));
  for (std::size_t rank = 0; rank < parts.paths.size(); ++rank) {
    test::change_part(parts.paths[rank], "UPDATE rank_collective SET duration_ns = " +
                                             std::string(rank == 5 ? "6" : "5") + "000000000");
  }
  // Merges two totals, the one with the higher ranks first.
  std::vector<fs::path> halves;
  for (const std::size_t first : {6u, 0u}) {
    std::vector<fs::path> half;
    for (std::size_t i = 0; i < 6; ++i) half.push_back(parts.paths[first + 5 - i]);
    halves.push_back(parts.path("half_" + std::to_string(first)));
    merge_parts(half, halves.back(), {0, {}});
  }
  merge_parts(halves, parts.path("all"), {});
  // The sum of squares is 11 x 25e18 + 36e18 = 311e18 = 16 x 2^64 + 15852094820647174144.
  CHECK(test::query(parts.path("all"),
                    "SELECT DISTINCT rank_count, duration_ns, square_high, square_low,"
                    " shortest_1_ns, shortest_2_ns, shortest_3_ns, shortest_1_member,"
                    " shortest_2_member, shortest_3_member, longest_1_ns, longest_2_ns,"
                    " longest_3_ns, longest_1_member, longest_2_member, longest_3_member"
                    " FROM collective WHERE group_name_id ="
                    " (SELECT id FROM name WHERE text = 'group_world')") ==
        MergedLines{"12|61000000000|16|-2594649253062377472|5000000000|5000000000|5000000000|1|2|3|"
                    "6000000000|5000000000|5000000000|6|1|2"});
}

TEST_CASE("the limit of per-rank rows is exact") {
  const ClusterParts parts(small_cluster(9));
  merge_parts(parts.paths, parts.path("all"), {});
  const std::int64_t rows = count_rows(parts.path("all"), "rank_collective");
  merge_parts(parts.paths, parts.path("just"), {rows, {}});
  CHECK((test::read_file(parts.path("just")) == test::read_file(parts.path("all"))));
  merge_parts(parts.paths, parts.path("less"), {rows - 1, {}});
  CHECK_FALSE(Part::open(parts.path("less")).facts().has_detail);
  CHECK(count_rows(parts.path("less"), "rank_collective") == 0);
  // Rows dropped by a merge stay dropped.
  merge_parts({parts.path("less")}, parts.path("more"), {});
  CHECK_FALSE(Part::open(parts.path("more")).facts().has_detail);
}

TEST_CASE("a part that cannot be merged is reported, and the rest is merged") {
  const ClusterParts parts(small_cluster(12));
  std::vector<fs::path> sound;
  std::map<fs::path, std::string> damaged;
  const auto damage = [&](std::size_t rank, const std::string& sql, const std::string& why) {
    test::change_part(parts.paths[rank], sql);
    damaged[parts.paths[rank]] = why;
  };
  damage(0, "UPDATE meta SET value = '2' WHERE key = 'version'", "of version 2");
  damage(2, "UPDATE member SET host_name_id = 5000", "is damaged");
  damage(3, "UPDATE rank_step SET step = 9 WHERE id = 1", "rows are not in order");
  damage(4, "UPDATE link SET member_id = 2 WHERE id = 3", "is damaged");
  damage(5, "UPDATE rank_collective SET operation_name_id = -1 WHERE id = 3", "is damaged");
  damage(6, "UPDATE op_total SET bins = x'ff' WHERE id = 3", "are invalid");
  damage(7, "DELETE FROM member", "has no rank");
  std::string bytes = test::read_file(parts.paths[8]);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] + 1);
  test::write_file(parts.paths[8], bytes);
  damaged[parts.paths[8]] = "checksum";
  test::write_file(parts.paths[9], "");
  damaged[parts.paths[9]] = "is not a rank summary";
  fs::remove(parts.paths[10]);
  damaged[parts.paths[10]] = "does not exist";
  for (const std::size_t rank : {1u, 11u}) sound.push_back(parts.paths[rank]);

  const MergeReport report = merge_parts(parts.paths, parts.path("some"), {});
  CHECK(report.merged == 2);
  CHECK(report.refused.size() == damaged.size());
  for (const auto& [path, why] : damaged) {
    const std::string reason = refused_as(report, path);
    INFO(reason);
    CHECK(reason.find(path.string()) == 0);
    CHECK(reason.find(why) != std::string::npos);
  }
  CHECK((test::read_file(parts.path("some")) == merged_bytes(sound, parts.path("sound"))));

  const test::RunResult run = run_merge(parts.paths, parts.path("by_command"));
  INFO(run.err);
  CHECK(run.exit_code == 3);
  for (const auto& [path, why] : damaged)
    CHECK(run.err.find("not merged: " + path.string()) != std::string::npos);
  CHECK((test::read_file(parts.path("by_command")) == test::read_file(parts.path("sound"))));
}

TEST_CASE("a duplicate rank is merged once, and the second part is reported") {
  const ClusterParts parts(small_cluster(4));
  const fs::path twice = parts.path("rank_00001_again.part");
  fs::copy_file(parts.paths[1], twice);
  std::vector<fs::path> all = parts.paths;
  all.push_back(twice);
  const MergeReport report = merge_parts(all, parts.path("all"), {});
  CHECK(report.merged == 4);
  CHECK(refused_as(report, twice) ==
        twice.string() + " has rank 1, which is already in " + parts.paths[1].string());
  CHECK((test::read_file(parts.path("all")) == merged_bytes(parts.paths, parts.path("once"))));
  // The same if the rank is within a previously merged summary.
  merge_parts({parts.paths[0], parts.paths[1]}, parts.path("two"), {});
  const MergeReport again = merge_parts({parts.path("two"), parts.paths[1]}, parts.path("out"), {});
  CHECK(again.merged == 1);
  CHECK(refused_as(again, parts.paths[1]).find("has rank 1") != std::string::npos);
  // Captures with an unknown rank are distinguished by host, device and name.
  for (const std::size_t i : {2u, 3u})
    test::change_part(parts.paths[i], "UPDATE member SET rank = NULL");
  const MergeReport unknown = merge_parts(parts.paths, parts.path("unknown"), {});
  CHECK(unknown.merged == 4);
  CHECK(read_ranks(Part::open(parts.path("unknown"))).unknown == 2);
}

TEST_CASE("if no part can be merged, the existing file is kept") {
  const ClusterParts parts(small_cluster(2));
  const std::string before = merged_bytes(parts.paths, parts.path("cluster.db"));
  for (const fs::path& path : parts.paths) test::write_file(path, "no part");
  const test::RunResult run = run_merge(parts.paths, parts.path("cluster.db"));
  CHECK(run.exit_code == 4);
  CHECK(run.err.find("cannot merge any of 2 rank summaries: " + parts.paths[0].string() +
                     " is not a rank summary") != std::string::npos);
  CHECK((test::read_file(parts.path("cluster.db")) == before));
  CHECK(test::names_in(parts.folder()).size() == 3);
  CHECK(run_merge({}, parts.path("cluster.db")).exit_code == 2);
  const test::RunResult no_folder = run_merge({parts.path("cluster.db")}, "/proc/none/cluster.db");
  CHECK(no_folder.exit_code == 5);
}

TEST_CASE("missing ranks are found by gaps, by groups, and by a manifest") {
  ClusterShape shape = small_cluster(12);
  shape.faults.missing = {2, 3, 7, 11};
  const ClusterParts parts(shape);
  // The last ranks are known to be missing because the group of all has 12 ranks.
  const test::RunResult run = run_merge(parts.paths, parts.path("cluster.db"));
  CHECK(run.exit_code == 3);
  CHECK(run.err.find("8 ranks on 2 hosts") != std::string::npos);
  CHECK(run.err.find("MISSING: 4 ranks (2-3,7,11)\n") != std::string::npos);
  // A summary meant for a further merge may be incomplete.
  CHECK(run_merge(parts.paths, parts.path("node.part")).exit_code == 0);
  test::write_file(parts.path("ranks.txt"), "0-1 # the first\n4,5\n6 8-10");
  const test::RunResult all_there = run_merge(parts.paths, parts.path("cluster.db"),
                                              {"--manifest", parts.path("ranks.txt").string()});
  CHECK(all_there.exit_code == 0);
  test::write_file(parts.path("ranks.txt"), "0-15");
  const test::RunResult json =
      run_merge(parts.paths, parts.path("cluster.db"),
                {"--json", "--detail-rows", "5", "--manifest", parts.path("ranks.txt").string()});
  CHECK(json.exit_code == 3);
  const auto document = nlohmann::json::parse(json.out);
  CHECK(document["missing_ranks"] == "2-3,7,11-15");
  CHECK(document["ranks"] == "0-1,4-6,8-10");
  CHECK(document["hosts"] == 2);
  CHECK(document["merged"] == 8);
  CHECK(document["has_detail"] == false);
  CHECK(document["refused"].empty());
  // The manifest is stored in the merged file.
  const test::RunResult later = run_merge({parts.path("cluster.db")}, parts.path("later.db"));
  CHECK(later.err.find("MISSING: 8 ranks (2-3,7,11-15)\n") != std::string::npos);
  test::write_file(parts.path("ranks.txt"), "0-x");
  const test::RunResult nonsense = run_merge(parts.paths, parts.path("cluster.db"),
                                             {"--manifest", parts.path("ranks.txt").string()});
  CHECK(nonsense.exit_code == 2);
  CHECK(nonsense.err.find("has no ranks") != std::string::npos);
}

TEST_CASE("a rank whose capture was read in part makes the cluster partial") {
  const ClusterParts parts(small_cluster(3));
  test::change_part(parts.paths[1], "UPDATE member SET verdict = 2");
  const test::RunResult run = run_merge(parts.paths, parts.path("cluster.db"));
  CHECK(run.exit_code == 3);
  CHECK(run.err.find("PARTIAL DATA: 1 rank (1)\n") != std::string::npos);
}

}  // namespace msprof::cluster
