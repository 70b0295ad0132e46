#include "msprof/doctor_report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/progress.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

constexpr const char* kMargin = "           ";  // below a result
constexpr const char* kAsAbove = "as above";
constexpr std::size_t kLong = 40;  // bytes; what is shorter is read again faster than looked up

const char* colour_of(CheckResult result) {
  switch (result) {
    case CheckResult::ok:
      return "\033[32m";
    case CheckResult::warning:
      return "\033[33m";
    case CheckResult::failed:
      return "\033[1;31m";
    case CheckResult::skipped:
      break;
  }
  return "\033[2m";
}

}  // namespace

void DoctorReport::print_new(const CheckList& list) {
  for (; printed_ < list.checks().size(); ++printed_) print(list.checks()[printed_]);
  std::fflush(stdout);
}

// A long text, or the long end of one behind ": ", is shown once under a heading.
std::string DoctorReport::shown_once(const std::string& text) {
  for (std::size_t at = 0; text.size() - at >= kLong; at += 2) {
    if (shown_.contains(text.substr(at))) return text.substr(0, at) + kAsAbove;
    at = text.find(": ", at);
    if (at == std::string::npos) break;
  }
  for (std::size_t at = 0; text.size() - at >= kLong; at += 2) {
    shown_.insert(text.substr(at));
    at = text.find(": ", at);
    if (at == std::string::npos) break;
  }
  return text;
}

void DoctorReport::print(const Check& check) {
  const bool is_problem =
      check.result == CheckResult::warning || check.result == CheckResult::failed;
  if (only_problems_ && !is_problem) return;
  if (check.about != about_) {
    fmt::print("{}{}\n", about_.empty() ? "" : "\n", printable(check.about));
    about_ = check.about;
    shown_.clear();
  }
  const bool colour = colour_allowed(STDOUT_FILENO);
  const std::string evidence = shown_once(check.evidence);
  const std::string remedy = shown_once(check.remedy);
  fmt::print("  {}{:<8}{} {}: {}\n", colour ? colour_of(check.result) : "",
             result_name(check.result), colour ? "\033[0m" : "", printable(check.name),
             printable(evidence));
  if (remedy.empty() || (evidence.ends_with(kAsAbove) && remedy == kAsAbove)) return;
  fmt::print("{}{}\n", kMargin, printable(remedy));
}

void DoctorReport::print_verdict(const CheckList& list) {
  const std::size_t warnings = list.count(CheckResult::warning);
  fmt::print("\nverdict: {} failed, {}, {} ok, {} skipped\n", list.count(CheckResult::failed),
             counted(warnings, "warning"), list.count(CheckResult::ok),
             list.count(CheckResult::skipped));
}

void add_checks(nlohmann::ordered_json& document, const CheckList& list) {
  using nlohmann::ordered_json;
  for (const CheckResult result :
       {CheckResult::ok, CheckResult::warning, CheckResult::failed, CheckResult::skipped}) {
    document[std::string(result_name(result))] = list.count(result);
  }
  document["checks"] = ordered_json::array();
  for (const Check& check : list.checks()) {
    ordered_json one = {{"about", valid_utf8(check.about)},
                        {"name", valid_utf8(check.name)},
                        {"result", result_name(check.result)},
                        {"evidence", valid_utf8(check.evidence)}};
    if (!check.remedy.empty()) one["remedy"] = valid_utf8(check.remedy);
    if (check.result == CheckResult::failed) one["exit_code"] = static_cast<int>(check.code);
    document["checks"].push_back(std::move(one));
  }
}

}  // namespace msprof
