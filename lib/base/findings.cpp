#include "base/findings.hpp"

#include <algorithm>
#include <iterator>

namespace msprof {

namespace {

// Remedies shared by several findings.
constexpr std::string_view kCopyAgain =
    "compare sizes with the original and copy the whole folder again (msprof collect does both)";
constexpr std::string_view kWholeRun =
    "let the application exit normally, or stop it with TERM or INT: after KILL it cannot save its "
    "data";

constexpr FindingInfo kFindings[] = {
#define FINDING(name, severity_, exit_, meaning_, ...) \
  {.id = #name,                                        \
   .severity = Severity::severity_,                    \
   .exit = Exit::exit_,                                \
   .meaning = meaning_,                                \
   __VA_ARGS__},
#include "base/findings.def"
#undef FINDING
    {.id = "", .severity = Severity::note, .exit = Exit::ok, .meaning = ""},  // count_
};

}  // namespace

const FindingInfo& finding_info(FindingId id) {
  return kFindings[static_cast<std::size_t>(id)];
}

std::optional<FindingId> find_finding(std::string_view id) {
  const auto* end = std::prev(std::end(kFindings));
  const auto* found = std::find_if(std::begin(kFindings), end,
                                   [&](const FindingInfo& info) { return info.id == id; });
  if (found == end) return std::nullopt;
  return static_cast<FindingId>(found - std::begin(kFindings));
}

}  // namespace msprof
