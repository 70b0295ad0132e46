// What import found wrong with the files of a capture, with its cause and what mends it; the rows
// of `import_log` as checks. For check_capture().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/check.hpp"
#include "store/database.hpp"

namespace msprof {

// Findings of one kind with one reason.
struct CaptureFinding {
  bool partial = false;  // something is missing or damaged
  std::string kind;
  std::string evidence;  // a sentence
  std::string remedy;
};

// Those worth a check, `folder` (the capture) put into their remedies. Other notes are left out.
std::vector<CaptureFinding> read_findings(const Database& db, const std::string& folder);

}  // namespace msprof
