#include "msprof/cluster_output.hpp"

#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "base/text.hpp"

namespace msprof {

using nlohmann::ordered_json;

Exit print_refused(const cluster::MergeReport& report) {
  for (const cluster::RefusedPart& part : report.refused)
    log::warn("not merged: {}", printable(part.reason));
  return report.refused.empty() ? Exit::ok : Exit::partial_data;
}

Exit print_ranks(cluster::Ranks ranks, bool missing_is_fault) {
  if (!missing_is_fault) ranks.missing = {};
  const std::int64_t count = ranks.present.count() + ranks.unknown;
  log::info("{} ranks on {} hosts", count, ranks.hosts);
  if (ranks.unknown > 0) log::info("{} captures without a rank", ranks.unknown);
  Exit exit = Exit::ok;
  for (const cluster::LackingRanks& lacking : lacking_ranks(ranks)) {
    log::warn("{}", lacking.line());
    exit = Exit::partial_data;
  }
  return exit;
}

ordered_json ranks_json(const cluster::Ranks& ranks) {
  return {{"ranks", ranks.present.text()},
          {"captures_without_rank", ranks.unknown},
          {"hosts", ranks.hosts},
          {"missing_ranks", ranks.missing.text()},
          {"partial_ranks", ranks.partial.text()}};
}

ordered_json refused_json(const cluster::MergeReport& report) {
  ordered_json refused = ordered_json::array();
  for (const cluster::RefusedPart& part : report.refused) {
    refused.push_back(
        {{"part", valid_utf8(part.path.string())}, {"reason", valid_utf8(part.reason)}});
  }
  return refused;
}

}  // namespace msprof
