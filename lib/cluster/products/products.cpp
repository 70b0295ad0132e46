// Writes communication_group.json, and calls the writers of the other files.
#include "cluster/products/products.hpp"

#include <fmt/format.h>

#include <set>

#include "base/atomic_file.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"
#include "cluster/products/communication_items.hpp"

namespace msprof::cluster {

namespace fs = std::filesystem;

namespace {

void append_ranks(std::string& out, const std::vector<std::int64_t>& ranks) {
  out += '[';
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) out += ", ";
    out += std::to_string(ranks[i]);
  }
  out += ']';
}

// Appends each distinct list of ranks once.
void append_rank_lists(std::string& out, const std::vector<std::vector<std::int64_t>>& lists) {
  std::set<std::vector<std::int64_t>> written;
  for (const auto& ranks : lists) {
    if (!written.insert(ranks).second) continue;
    out += written.size() == 1 ? "\n" : ",\n";
    append_ranks(out, ranks);
  }
}

}  // namespace

void write_communication_group_json(const ClusterView& view, const fs::path& file,
                                    std::vector<TemporaryFile>& finished) {
  AtomicFile json(file);
  std::string& out = json.buffer();
  std::vector<std::vector<std::int64_t>> collectives;
  for (const CommGroup& group : view.groups()) {
    if (group.has_collectives || !group.has_pairs) collectives.push_back(group.ranks);
  }
  out += "{\"collective\": [";
  append_rank_lists(out, collectives);
  out += "],\n\"p2p\": [";
  append_rank_lists(out, view.stages());
  out += "],\n\"comm_group_parallel_info\": [";
  bool is_first = true;
  const auto add = [&](std::string_view type, const CommGroup& group) {
    out += fmt::format("{}{{\"type\": \"{}\", \"rank_set\": ", is_first ? "\n" : ",\n", type);
    append_ranks(out, group.ranks);
    out += ", \"group_name\": ";
    append_json_string(out, view.text(group.name_id));
    out += ", \"group_id\": \"\", \"pg_name\": \"\"}";
    is_first = false;
    json.drain();
  };
  for (const CommGroup& group : view.groups()) {
    if (group.has_collectives || !group.has_pairs) add("collective", group);
    if (group.has_pairs) add("p2p", group);
  }
  out += "]}\n";
  finished.push_back(json.finish());
}

ClusterProducts write_vendor_files(const Part& part, const fs::path& folder,
                                   const ClusterProductOptions& options) {
  const ClusterView view(part, options.shifts);
  const fs::path target = folder / kClusterFolder;
  create_output_folder(target);
  ClusterProducts products;
  const std::int64_t entries = rank_collective_count(part);
  const bool with_operations = part.facts().has_detail && entries <= options.most_entries;
  if (!part.facts().has_detail) {
    products.notes.push_back(
        "the merged result has only totals of collectives, so cluster_communication.json and "
        "cluster_analysis.db have no single collectives: merge with more --detail-rows");
  } else if (!with_operations) {
    products.notes.push_back(
        fmt::format("cluster_communication.json and cluster_analysis.db have only totals of "
                    "collectives; --all-collectives writes all {} per-rank entries",
                    with_thousands(static_cast<std::uint64_t>(entries))));
  }
  if (!view.renumbered().empty()) {
    products.notes.push_back(
        fmt::format("{} of {} captures have no rank or a duplicate one: numbered from {}",
                    view.renumbered().size(), view.members().size(),
                    view.product_rank(view.renumbered().front())));
  }
  std::vector<TemporaryFile> finished;
  const auto add = [&](const char* name) {
    products.files.push_back(target / name);
    return products.files.back();
  };
  write_step_trace_csv(view, add("cluster_step_trace_time.csv"), finished);
  write_communication_json(view, with_operations, add("cluster_communication.json"), finished);
  const std::int64_t left_out =
      write_communication_matrix_json(view, add("cluster_communication_matrix.json"), finished);
  if (left_out > 0) {
    products.notes.push_back(
        fmt::format("cluster_communication_matrix.json is missing {} rows of links whose rank has "
                    "no capture here",
                    left_out));
  }
  write_communication_group_json(view, add("communication_group.json"), finished);
  write_cluster_analysis_db(view, with_operations, add("cluster_analysis.db"), finished);
  publish_together(finished);
  return products;
}

}  // namespace msprof::cluster
