#include "doctor/check.hpp"

#include <algorithm>
#include <iterator>

#include "base/text.hpp"

namespace msprof {

std::string_view result_name(CheckResult result) {
  switch (result) {
    case CheckResult::ok:
      return "ok";
    case CheckResult::warning:
      return "warning";
    case CheckResult::failed:
      return "failed";
    case CheckResult::skipped:
      break;
  }
  return "skipped";
}

void CheckList::ok(std::string_view name, std::string evidence) {
  checks_.push_back(
      {about_, std::string(name), CheckResult::ok, std::move(evidence), "", Exit::ok});
}

void CheckList::warn(std::string_view name, std::string evidence, std::string remedy) {
  checks_.push_back({about_, std::string(name), CheckResult::warning, std::move(evidence),
                     std::move(remedy), Exit::ok});
}

void CheckList::fail(std::string_view name, std::string evidence, std::string remedy, Exit code) {
  checks_.push_back({about_, std::string(name), CheckResult::failed, std::move(evidence),
                     std::move(remedy), code});
}

void CheckList::skip(std::string_view name, std::string reason, std::string remedy) {
  checks_.push_back({about_, std::string(name), CheckResult::skipped, std::move(reason),
                     std::move(remedy), Exit::ok});
}

void CheckList::fail(std::string_view name, const Error& error) {
  if (error.code() == Exit::interrupted) throw error;
  const std::string_view text = error.what();
  const auto end = text.find("; ");
  const bool has_remedy = end != std::string_view::npos;
  fail(name, std::string(text.substr(0, end)),
       has_remedy ? std::string(trim(text.substr(end + 2))) : "", error.code());
}

CheckList CheckList::empty_copy() const {
  CheckList copy;
  copy.about_ = about_;
  return copy;
}

void CheckList::append(CheckList other) {
  checks_.insert(checks_.end(), std::make_move_iterator(other.checks_.begin()),
                 std::make_move_iterator(other.checks_.end()));
}

std::size_t CheckList::count(CheckResult result) const {
  return static_cast<std::size_t>(std::count_if(
      checks_.begin(), checks_.end(), [&](const Check& check) { return check.result == result; }));
}

Exit CheckList::exit_code() const {
  Exit code = Exit::ok;
  for (const Check& check : checks_) {
    if (check.result == CheckResult::failed) code = gravest(code, check.code);
  }
  return code;
}

}  // namespace msprof
