// What import found wrong with the files of a capture, with its cause and what mends it; the rows
// of `import_log` as checks. For check_capture().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/check.hpp"
#include "store/database.hpp"

namespace msprof {

// Findings of one id and kind with one reason.
struct CaptureFinding {
  std::string id;        // of findings.def
  bool partial = false;  // something is missing or damaged
  std::string kind;
  std::string evidence;  // a sentence
  std::string remedy;
};

// Those worth a check, `folder` (the capture) put into their remedies. Other notes are left out.
// Our own runtime loses less of a run that is cut short than a board's.
std::vector<CaptureFinding> read_findings(const Database& db, const std::string& folder,
                                          bool is_of_our_runtime);

}  // namespace msprof
