#include "analyze/cluster/cluster_findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/advise/advice.hpp"
#include "analyze/advise/rule_file.hpp"

namespace msprof {

namespace {

constexpr std::size_t kShownEvidence = 5;

// Returns "rank 17 (node-2, device 1): 3378.708 us, 20.0 %, cause computing".
std::string evidence_sentence(const Evidence& evidence) {
  std::string line = evidence.name;
  std::string_view between = ": ";
  const auto add = [&](const std::string& text) {
    line += std::string(between) + text;
    between = ", ";
  };
  if (evidence.count) add(fmt::format("{} x", *evidence.count));
  if (evidence.time_us) add(fmt::format("{:.3f} us", *evidence.time_us));
  if (evidence.share_percent) add(fmt::format("{:.1f} %", *evidence.share_percent));
  for (const EvidenceValue& value : evidence.values) {
    std::string name = value.name;
    std::replace(name.begin(), name.end(), '_', ' ');
    add(fmt::format("{} {}", name, value.number ? number_text(*value.number) : value.text));
  }
  return line;
}

}  // namespace

std::vector<ClusterFinding> cluster_findings(const cluster::Part& part) {
  std::vector<ClusterFinding> findings;
  const Advice advice = advise(part, builtin_rules());
  for (const AdviceFinding& from : advice.findings) {
    ClusterFinding finding{
        std::string(severity_name(from.rule->severity)), from.title.en, {}, from.advice.en};
    for (std::size_t i = 0; i < std::min(kShownEvidence, from.evidence.size()); ++i)
      finding.evidence.push_back(evidence_sentence(from.evidence[i]));
    if (from.evidence_count > finding.evidence.size()) {
      finding.evidence.push_back(fmt::format("and {} more (see msprof advise)",
                                             from.evidence_count - finding.evidence.size()));
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

cluster::ClockShifts clock_shifts(const cluster::HostClocks& clocks) {
  cluster::ClockShifts shifts;
  for (const cluster::HostClock& host : clocks.hosts()) {
    if (host.offset_ns != kNull) shifts[host.host_name_id] = host.offset_ns;
  }
  return shifts;
}

}  // namespace msprof
