// Access to findings.def by id. For modules that report conditions to users or scripts, and for
// tests, which check ids instead of wording.
#pragma once

#include <optional>
#include <string_view>

#include "base/error.hpp"

namespace msprof {

enum class Severity {
  note,     // information; no data is missing
  without,  // complete except for the data in `lacks`: "complete without ..."
  partial,  // lost or damaged data: exit code 3
  warning,  // the command continues
  error,    // the command ends
};

// Category of a finding; the JSON verdict has a counter for each.
enum class Category {
  other,
  skipped_record,
  trailing_bytes,
  missing_done,
  empty_product,
  not_read,
};

enum class FindingId : int {
#define FINDING(id, ...) id,
#include "base/findings.def"
#undef FINDING
  count_  // number of findings; not a finding
};

struct FindingInfo {
  std::string_view id;  // stable id for scripts: "unread_kind"
  Severity severity;
  Exit exit;                 // exit code if this is the only finding
  std::string_view meaning;  // one sentence, used in the documentation
  Category category = Category::other;
  std::string_view lacks = {};  // completes "complete without …" in the verdict
  std::string_view cause = {};  // default cause, used if the finding has no detail
  // Remedy; '@' is replaced by the capture's folder. Empty text: no remedy exists. Unset: the
  // finding is shown by import's verdict, but not by doctor.
  std::optional<std::string_view> remedy = {};
};

const FindingInfo& finding_info(FindingId id);
// Returns the finding with this `id`; empty if unknown.
std::optional<FindingId> find_finding(std::string_view id);

}  // namespace msprof
