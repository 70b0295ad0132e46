// The views of a cluster have the documented columns, and their numbers match the rank summaries.
#include "query/cluster_views.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "cluster/cluster_file.hpp"
#include "cluster/part_files.hpp"
#include "query/query_db.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using test::ranks::ClusterShape;

namespace {

ClusterShape view_shape() {
  ClusterShape shape;
  shape.ranks = 8;
  shape.ranks_per_host = 4;
  shape.faults.late_host = 1;
  shape.faults.offset_us = 2000;
  shape.faults.missing = {3};
  return shape;
}

// The cells of all rows, separated by ','; each row is followed by ';'.
std::string query_rows(const cluster::Part& part, const std::string& sql) {
  const QueryDb db(part, sql);
  Statement read = db.ask(sql);
  std::string all;
  while (read.step()) {
    for (int i = 0; i < read.column_count(); ++i)
      all += (i == 0 ? "" : ",") + (read.is_null(i) ? "-" : std::string(read.text(i)));
    all += ";";
  }
  return all;
}

}  // namespace

TEST_CASE("Every view of a cluster has the columns that it documents, in their order") {
  const test::TempFolder folder;
  const cluster::Part part = test::make_cluster(folder.path(), view_shape());
  for (const View& view : cluster_views()) {
    INFO(view.name);
    const std::string sql = "SELECT * FROM " + std::string(view.name);
    const QueryDb db(part, sql);
    Statement all = db.ask(sql);
    REQUIRE(all.column_count() == static_cast<int>(view.columns.size()));
    for (int i = 0; i < all.column_count(); ++i) {
      const ViewColumn& column = view.columns[static_cast<std::size_t>(i)];
      CHECK(all.column_name(i) == column.name);
      CHECK_FALSE(column.help.empty());
    }
    const bool has_findings = view.name.starts_with("v_slow_");
    CHECK(all.step() == !has_findings);
    CHECK_FALSE(db.reads_modelled());
  }
}

TEST_CASE("Views of a cluster add up to what the tables hold") {
  const test::TempFolder folder;
  const cluster::Part part = test::make_cluster(folder.path(), view_shape());
  CHECK(query_rows(part,
                   "SELECT ranks, rank_count, host_count, step_count, missing_ranks,"
                   " missing_count, partial_ranks, partial_count, has_detail FROM v_cluster") ==
        "0-2,4-7,7,2,4,3,1,-,0,1;");
  CHECK(query_rows(part,
                   "SELECT count(*), count(DISTINCT host), min(rank), max(rank) FROM v_ranks") ==
        "7,2,0,7;");
  // Compared with the rows of the ranks.
  CHECK(query_rows(part,
                   "SELECT count(*) FROM v_collectives AS c WHERE rank_count <> (SELECT count(*)"
                   " FROM v_rank_collectives AS r WHERE r.step = c.step AND r.group_name ="
                   " c.group_name AND r.operation = c.operation AND r.sequence = c.sequence)") ==
        "0;");
  CHECK(query_rows(part,
                   "SELECT round(total(mean_us * rank_count) - (SELECT total(duration_us) FROM"
                   " v_rank_collectives), 3) FROM v_collectives") == "0.0;");
  CHECK(query_rows(part,
                   "SELECT count(*) FROM v_collectives JOIN v_rank_collectives AS r USING (step,"
                   " group_name, operation, sequence) WHERE r.rank = last_rank AND"
                   " r.duration_us <> shortest_us") == "0;");
  CHECK(query_rows(part,
                   "SELECT total(count) - (SELECT count(*) FROM v_rank_collectives) FROM"
                   " v_collective_totals") == "0.0;");
  CHECK(query_rows(part,
                   "SELECT round(total(share), 6), min(min_us <= median_us AND median_us <="
                   " p95_us AND p95_us <= max_us) FROM v_cluster_ops") == "100.0,1;");
  // A ring between hosts, and all-to-all within a host; of rank 3 only the number is known.
  CHECK(query_rows(part,
                   "SELECT DISTINCT source, target_in_group, target FROM v_links WHERE source = 0"
                   " AND group_name = 'group_world' ORDER BY target_in_group") ==
        "0,1,1;0,2,2;0,3,-;0,4,4;");
}

TEST_CASE("Aligned times are those of the reference host") {
  const test::TempFolder folder;
  const cluster::Part part = test::make_cluster(folder.path(), view_shape());
  CHECK(query_rows(part,
                   "SELECT hostname, state, is_aligned, round(offset_us / 10) * 10 FROM"
                   " v_host_clocks ORDER BY host") ==
        "node-0000,reference,1,0.0;node-0001,aligned,1,2000.0;");
  // Recorded ends differ by 2 ms between hosts, aligned ends by a few us.
  const std::string ends =
      "SELECT max({0} + 1000 * duration_us) - min({0} + 1000 * duration_us) < 20000 AS is_near,"
      " count(*) FROM v_rank_collectives WHERE group_name = 'group_world' GROUP BY step, operation,"
      " sequence";
  const auto near = [&](const std::string& column) {
    std::string sql = ends;
    for (std::size_t at = 0; (at = sql.find("{0}", at)) != std::string::npos;)
      sql.replace(at, 3, column);
    return query_rows(part, "SELECT DISTINCT is_near FROM (" + sql + ")");
  };
  CHECK(near("start_ns") == "0;");
  CHECK(near("aligned_start_ns") == "1;");
  CHECK(query_rows(part,
                   "SELECT count(*) FROM v_collectives WHERE aligned_end_ns - aligned_start_ns <"
                   " 1000 * longest_us - 5000 OR aligned_start_ns IS NULL") == "0;");
  CHECK(query_rows(part, "SELECT count(*) FROM v_rank_steps WHERE aligned_begin_ns IS NULL") ==
        "0;");
}

TEST_CASE("SQL about a cluster only reads, and errors name its views") {
  const test::TempFolder folder;
  const cluster::Part part = test::make_cluster(folder.path(), view_shape());
  CHECK_THROWS_WITH(query_rows(part, "SELECT * FROM v_rank"), Catch::Contains("v_ranks"));
  CHECK_THROWS_AS(query_rows(part, "DELETE FROM member"), Error);
  CHECK_THROWS_AS(query_rows(part, "SELECT load_extension('x')"), Error);
}

TEST_CASE("Contradicting rows of a part are reported or harmless") {
  const test::TempFolder folder;
  test::make_cluster(folder.path(), view_shape());
  const auto path = folder.path() / "cluster.db";
  for (const char* sql :
       {"UPDATE link SET source_rank = -9223372036854775807, size_bytes = 9223372036854775807,"
        " size_class = 99, link_type = NULL",
        "UPDATE rank_step SET member_id = 9223372036854775807, duration_ns = -9223372036854775807",
        "UPDATE group_member SET member_id = -1", "UPDATE member SET host_name_id = 123456789",
        "UPDATE member SET rank = -5, device_id = NULL, hostname_name_id = -3",
        "UPDATE rank_step SET step = id, computing_ns = 9223372036854775807 - id",
        "UPDATE rank_collective SET duration_ns = 9223372036854775807 - id, start_ns = id",
        "UPDATE rank_collective SET operation_name_id = -4, group_name_id = NULL",
        "UPDATE op_total SET count = 0, duration_ns = -9223372036854775807",
        "DELETE FROM rank_collective", "DELETE FROM rank_step"}) {
    CAPTURE(sql);
    test::change_part(path, sql);
    const cluster::Part part = cluster::Part::open(path);
    for (const View& view : cluster_views())
      CHECK_NOTHROW(query_rows(part, "SELECT * FROM " + std::string(view.name)));
  }
  test::make_cluster(folder.path(), view_shape());
  test::change_part(path, "UPDATE rank_collective SET member_id = 4000 WHERE id = 5");
  const cluster::Part part = cluster::Part::open(path);
  CHECK_THROWS_WITH(query_rows(part, "SELECT * FROM v_slow_ranks"),
                    Catch::Contains("a collective of an unknown rank"));
}
