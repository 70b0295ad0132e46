// Findings by id: the table of findings.def for code. For every room that tells users, and scripts,
// of something that they may want to act on; for tests, which ask for the id and not for words.
#pragma once

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

enum class FindingId : int {
#define FINDING(id, severity, exit, meaning) id,
#include "base/findings.def"
#undef FINDING
  count_  // how many there are; no finding
};

struct FindingInfo {
  std::string_view id;  // as scripts see it: "unread_kind"
  Severity severity;
  Exit exit;                 // of a command that ends with it alone
  std::string_view meaning;  // one sentence, for the documentation
};

const FindingInfo& finding_info(FindingId id);

}  // namespace msprof
