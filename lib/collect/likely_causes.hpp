// Why a run may have left no profile. For the collector, which says so to the user.
#pragma once

#include <string>
#include <vector>

#include "collect/outcome.hpp"

namespace msprof {

// What is known about a run; it excludes causes.
struct RunFacts {
  std::string main;
  bool capture_there = false;  // a JOB folder, but without data
  bool switched_off = false;   // --switch off
  bool items_off = false;      // --acl_api off and --aacpu off
  bool dump_on = false;
  bool own_acl_json = false;  // the project had one, or --acl-json named one
  bool on_board = false;
  bool output_full = false;  // no space where the run writes
  Outcome outcome;
};

// The causes that remain, the likeliest first; each a sentence without its full stop.
std::vector<std::string> likely_causes(const RunFacts& facts);

}  // namespace msprof
