#include "msprof/cluster_info.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "msprof/cluster_output.hpp"
#include "msprof/json_values.hpp"
#include "query/query_db.hpp"

namespace msprof {

using nlohmann::ordered_json;

namespace {

constexpr std::size_t kShownRanges = 12;

// Facts about a cluster, read by SQL in one pass.
struct ClusterInfo {
  std::int64_t steps = 0;
  std::optional<double> step_us;  // the median
  std::int64_t aligned_hosts = 0;
  std::int64_t groups = 0;
  std::int64_t collectives = 0;
  std::int64_t ops = 0;
};

std::int64_t read_count(const QueryDb& db, std::string_view sql) {
  Statement read = db.prepare(sql);
  return read.step() ? read.integer(0) : 0;
}

ClusterInfo read_cluster_info(const cluster::Part& part) {
  constexpr std::string_view kQuestions = "v_step_growth v_host_clocks";
  const QueryDb db(part, kQuestions);
  ClusterInfo info;
  Statement growth = db.prepare("SELECT steps, median_us FROM v_step_growth");
  if (growth.step()) {
    info.steps = growth.integer(0);
    info.step_us = growth.maybe_real(1);
  }
  info.aligned_hosts = read_count(db, "SELECT count(*) FROM v_host_clocks WHERE is_aligned");
  info.groups = read_count(db, "SELECT count(DISTINCT group_name_id) FROM group_member");
  info.collectives = read_count(
      db, part.facts().has_detail
              ? "SELECT count(*) FROM (SELECT DISTINCT step, group_name_id, operation_name_id,"
                " sequence FROM rank_collective)"
              : "SELECT count(*) FROM collective");
  info.ops = read_count(db, "SELECT count(*) FROM op_total");
  return info;
}

void print_line(std::string_view what, std::string_view value) {
  fmt::print("{:<12} {}\n", what, printable(value));
}

void print_info(const cluster::Part& part, const ClusterVerdict& verdict, const ClusterInfo& info) {
  const cluster::Ranks& ranks = verdict.ranks;
  fmt::print("{}\n", printable(part.path().string()));
  std::string present = fmt::format("{}", ranks.present.count());
  if (!ranks.present.empty()) present += fmt::format(" ({})", ranks.present.text(kShownRanges));
  if (ranks.unknown > 0) present += fmt::format(", {} captures without a rank", ranks.unknown);
  print_line("ranks", present);
  for (const cluster::LackingRanks& lacking : lacking_ranks(ranks))
    print_line(lacking.what, lacking.ranks);
  print_line("hosts", fmt::format("{}, clocks aligned on {}", ranks.hosts, info.aligned_hosts));
  print_line("steps", info.step_us
                          ? fmt::format("{}, median {:.3f} ms", info.steps, *info.step_us / 1000)
                          : "no numbered steps");
  print_line(
      "collectives",
      fmt::format("{} in {} groups{}", info.collectives, info.groups,
                  part.facts().has_detail ? "" : "; only totals and extremes, no rows per rank"));
  print_line("operators", fmt::format("{}", info.ops));
  fmt::print(
      "\n"
      "`msprof query --schema -dir {}` lists the views for SQL; `msprof advise` finds what is "
      "slow\n",
      printable(part.path().string()));
}

}  // namespace

ClusterVerdict judge_ranks(const cluster::Part& part) {
  ClusterVerdict verdict;
  verdict.ranks = cluster::read_ranks(part);
  const bool is_partial = !verdict.ranks.missing.empty() || !verdict.ranks.partial.empty();
  verdict.exit = is_partial ? Exit::partial_data : Exit::ok;
  verdict.name = is_partial ? "partial" : "complete";
  return verdict;
}

Exit print_cluster_info(const std::filesystem::path& path, ordered_json* document) {
  const cluster::Part part = cluster::Part::open(path);
  const ClusterVerdict verdict = judge_ranks(part);
  const ClusterInfo info = read_cluster_info(part);
  if (document == nullptr) {
    print_info(part, verdict, info);
    return verdict.exit;
  }
  *document = {{"folder", valid_utf8(path.string())},
               {"name", valid_utf8(path.filename().string())},
               {"dialect", "cluster"},
               {"verdict", verdict.name}};
  document->update(ranks_json(verdict.ranks));
  (*document)["hosts_aligned"] = info.aligned_hosts;
  (*document)["steps"] = info.steps;
  (*document)["median_step_us"] = as_json(info.step_us);
  (*document)["groups"] = info.groups;
  (*document)["collectives"] = info.collectives;
  (*document)["operators"] = info.ops;
  (*document)["has_detail"] = part.facts().has_detail;
  return verdict.exit;
}

}  // namespace msprof
