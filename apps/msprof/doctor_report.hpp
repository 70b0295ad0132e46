// How `msprof doctor` shows its checks. For the verb.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "doctor/check.hpp"

namespace msprof {

// Prints checks as they come, a line each and the remedy below, grouped by what they are about.
class DoctorReport {
 public:
  // `only_problems`: neither what is well nor what was skipped.
  explicit DoctorReport(bool only_problems) : only_problems_(only_problems) {}

  // Those of `list` that were added since the last call.
  void print_new(const CheckList& list);
  // "verdict: 1 failed, 2 warnings, 9 ok, 3 skipped"
  static void print_verdict(const CheckList& list);

 private:
  void print(const Check& check);
  std::string shown_once(const std::string& text);
  bool only_problems_;
  std::size_t printed_ = 0;
  std::string about_;
  std::set<std::string> shown_;  // long texts under this heading
};

// The counts and the checks, into what --json prints.
void add_checks(nlohmann::ordered_json& document, const CheckList& list);

}  // namespace msprof
