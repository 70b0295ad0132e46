#include "base/findings.hpp"

#include <array>

namespace msprof {

namespace {

constexpr FindingInfo kFindings[] = {
#define FINDING(id, severity, exit, meaning) {#id, Severity::severity, Exit::exit, meaning},
#include "base/findings.def"
#undef FINDING
    {"", Severity::note, Exit::ok, ""},  // count_
};

}  // namespace

const FindingInfo& finding_info(FindingId id) {
  return kFindings[static_cast<std::size_t>(id)];
}

}  // namespace msprof
