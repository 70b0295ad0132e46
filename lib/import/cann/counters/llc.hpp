// Determines which of the two formats of llc.data a part has. Source: cann_system.md 6.
#pragma once

#include "import/cann/cann_import.hpp"

namespace msprof::cann {

// Returns true if the part has text: llc_profiling is capacity or bandwidth, or is unknown on a
// 310. Other parts have binary records.
inline bool has_llc_text(const CannImport& import, const CannPart& part) {
  const std::string& what = part.info.llc_profiling;
  if (what == "capacity" || what == "bandwidth") return true;
  const auto& chip = import.session.chip();
  return what != "read" && what != "write" && chip && chip->platform == 0;
}

// Adds a finding that sample.json does not name the counted events.
inline void tell_unknown_llc(const ImportContext& context, const CannPart& part,
                             std::string_view kind) {
  const std::string& what = part.info.llc_profiling;
  context.report.add(FindingId::events_not_said, kind, part.name, "unknown events",
                     what.empty() ? "sample.json has no llc_profiling"
                                  : "sample.json has an unknown llc_profiling");
}

}  // namespace msprof::cann
