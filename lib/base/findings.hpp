// Findings by id: the table of findings.def for code. For every module that reports to users, and
// scripts, something that they may want to act on; for tests, which ask for the id and not for
// words.
#pragma once

#include <optional>
#include <string_view>

#include "base/error.hpp"

namespace msprof {

enum class Severity {
  note,     // worth to know; nothing lacks
  without,  // the data is complete but for what this names: "complete without ..."
  partial,  // lost or damaged data: exit code 3
  warning,  // of a command: it goes on
  error,    // of a command: it ends
};

// Category of a finding; the verdict as JSON has one figure for each.
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
  count_  // number of findings; itself none
};

struct FindingInfo {
  std::string_view id;  // id for scripts: "unread_kind"
  Severity severity;
  Exit exit;                 // of a command that ends with it alone
  std::string_view meaning;  // one sentence, for the documentation
  Category category = Category::other;
  std::string_view lacks = {};  // what the profile is then "complete without …"
  std::string_view cause = {};  // why it happens, if the detail of a finding does not give it
  // Remedy; '@' is the capture's folder. Empty: there is none. Without a value the finding is
  // for the verdict of import alone, and the doctor does not repeat it.
  std::optional<std::string_view> remedy = {};
};

const FindingInfo& finding_info(FindingId id);
// The finding that scripts see as `id`; none for a word that is no id.
std::optional<FindingId> finding_of(std::string_view id);

}  // namespace msprof
