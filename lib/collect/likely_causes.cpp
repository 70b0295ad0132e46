#include "collect/likely_causes.hpp"

#include <fmt/format.h>

namespace msprof {

namespace {

void add_no_capture(const RunFacts& facts, std::vector<std::string>& causes) {
  if (facts.own_acl_json) {
    causes.push_back(
        fmt::format("{} does not call svp_acl_init, or calls it without the path of an acl.json "
                    "(--acl-json FILE names one of another name or place)",
                    facts.main));
  } else {
    causes.push_back(
        fmt::format("{} does not call svp_acl_init with the path of an acl.json; the project has "
                    "none, so a default one lay beside {} and in ../src (--acl-json FILE names "
                    "one of another name or place)",
                    facts.main, facts.main));
  }
  if (!facts.on_board) {
    causes.push_back(
        fmt::format("{} is not linked to a libsvp_acl.so that can profile", facts.main));
  } else {
    causes.push_back("AI-ISP is on: the board then makes no JOB folder");
  }
}

void add_no_data(const RunFacts& facts, std::vector<std::string>& causes) {
  causes.push_back(
      "the model was converted without --online_model_type=2 (ATC), so it carries nothing to "
      "profile");
  causes.push_back("models were loaded and unloaded, and none was executed");
  if (facts.items_off) causes.push_back("--acl_api off and --aacpu off leave little to record");
}

}  // namespace

std::vector<std::string> likely_causes(const RunFacts& facts) {
  std::vector<std::string> causes;
  if (facts.switched_off) return {"profiling was switched off with --switch off"};
  // 127 is what the dynamic loader (and a shell) ends with.
  if (facts.outcome.end.exit_code == 127) {
    causes.push_back(
        "a shared library was not found: libraries belong beside the executable (RUNPATH), into "
        "lib/ of the project or on LD_LIBRARY_PATH");
  }
  if (!facts.outcome.ok() || facts.outcome.timed_out) {
    causes.push_back(fmt::format(
        "{} ended before {}", facts.main,
        facts.capture_there ? "a model was executed" : "svp_acl_init or the first model"));
  }
  if (facts.output_full) causes.push_back("the disk that the run writes to is full");
  if (facts.dump_on) {
    causes.push_back("acl.json also asks for dump, which excludes profiling: switch it off");
  }
  if (facts.capture_there) {
    add_no_data(facts, causes);
  } else {
    add_no_capture(facts, causes);
    causes.push_back(
        "no model was loaded and executed (a model without --online_model_type=2 "
        "carries nothing to profile)");
  }
  return causes;
}

}  // namespace msprof
