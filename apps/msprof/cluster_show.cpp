// msprof show for a cluster: ranks, steps, findings, operators and collectives.
#include "msprof/cluster_show.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "analyze/cluster/cluster_findings.hpp"
#include "analyze/cluster/cluster_summary.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/text_table.hpp"
#include "msprof/cluster_output.hpp"
#include "msprof/json_values.hpp"

namespace msprof {

namespace {

using cluster::ClusterView;
using nlohmann::ordered_json;

ordered_json table_json(const ClusterTable& table) {
  ordered_json rows = ordered_json::array();
  for (const auto& row : table.rows.rows) {
    ordered_json object = ordered_json::object();
    for (std::size_t i = 0; i < row.size(); ++i) object[table.rows.columns[i]] = as_json(row[i]);
    rows.push_back(std::move(object));
  }
  return {{"name", table.name},
          {"title", table.title},
          {"columns", table.rows.columns},
          {"rows", std::move(rows)}};
}

ordered_json cluster_json(const std::filesystem::path& file, const ClusterSummary& summary,
                          const std::vector<ClusterFinding>& findings,
                          const std::vector<ClusterTable>& tables) {
  ordered_json one = {{"file", valid_utf8(file.string())}};
  one.update(ranks_json(summary.ranks));
  one["has_detail"] = summary.has_detail;
  one["steps"] = summary.has_steps ? summary.steps.size() : 0;
  const StepSum& mean = summary.mean;
  one["mean"] = {{"duration_ms", mean.mean_ms(&StepSum::duration_ns)},
                 {"computing_percent", mean.percent(&StepSum::computing_ns)},
                 {"not_overlapped_percent", mean.percent(&StepSum::not_overlapped_ns)},
                 {"free_percent", mean.percent(&StepSum::free_ns)}};
  one["findings"] = ordered_json::array();
  for (const ClusterFinding& finding : findings)
    one["findings"].push_back({{"severity", finding.severity}, {"what", valid_utf8(finding.what)}});
  one["tables"] = ordered_json::array();
  for (const ClusterTable& table : tables) one["tables"].push_back(table_json(table));
  return one;
}

// Prints each finding as a paragraph, wrapped to the terminal's width.
void print_findings(const std::vector<ClusterFinding>& findings) {
  if (findings.empty()) return;
  fmt::print(
      "\n"
      "Findings (`msprof advise` shows evidence and remedies)\n");
  const int width = text_width(STDOUT_FILENO);
  for (const ClusterFinding& finding : findings) {
    std::string line = finding.severity + ":";
    const std::string what = printable(finding.what);
    for (const std::string_view word : split(what, ' ')) {
      if (width > 0 && display_width(line) + 1 + display_width(word) > width) {
        fmt::print("{}\n", line);
        line = " ";
      }
      line += " " + std::string(word);
    }
    fmt::print("{}\n", line);
  }
}

Exit show_cluster(const std::filesystem::path& file, std::size_t top, bool json,
                  ordered_json& document) {
  const cluster::Part part = cluster::Part::open(file);
  const ClusterView view(part);
  const ClusterSummary summary = cluster_summary(view);
  const auto tables = cluster_tables(view, summary, top);
  const auto findings = cluster_findings(part);
  const bool is_whole = summary.ranks.missing.empty() && summary.ranks.partial.empty();
  if (json) {
    document["clusters"].push_back(cluster_json(file, summary, findings, tables));
  } else {
    fmt::print("{}\n{}\n", printable(file.string()), cluster_line(summary));
    for (const std::string& line : lacking_lines(summary)) fmt::print("{}\n", printable(line));
    fmt::print("{}\n", mean_line(summary));
    print_findings(findings);
    for (const ClusterTable& table : tables) {
      TextTable text;
      table.rows.write(text);
      fmt::print("\n{}\n{}", table.title, text.for_terminal(STDOUT_FILENO));
    }
  }
  return is_whole ? Exit::ok : Exit::partial_data;
}

}  // namespace

Exit show_clusters(const std::vector<std::filesystem::path>& files, std::size_t top, bool json,
                   ordered_json& document) {
  document["clusters"] = ordered_json::array();
  Exit exit = Exit::ok;
  for (const auto& file : files) {
    if (!json && &file != &files.front()) fmt::print("\n");
    exit = gravest(exit, show_cluster(file, top, json, document));
  }
  return exit;
}

}  // namespace msprof
