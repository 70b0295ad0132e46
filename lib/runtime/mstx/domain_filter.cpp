#include "runtime/mstx/domain_filter.hpp"

#include <stdlib.h>

#include "runtime/engine/message.hpp"

namespace msprof::mstx {

namespace {

std::string_view variable(const char* name) {
  const char* value = secure_getenv(name);
  return value == nullptr ? std::string_view() : value;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

DomainFilter::DomainFilter(std::string_view include, std::string_view exclude)
    : lists_wanted_(!include.empty()) {
  std::string_view rest = lists_wanted_ ? include : exclude;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view name = trimmed(rest.substr(0, comma));
    if (!name.empty()) names_.emplace(name);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
}

DomainFilter DomainFilter::from_environment() {
  const std::string_view include = variable("MSPROF_MSTX_DOMAIN_INCLUDE");
  const std::string_view exclude = variable("MSPROF_MSTX_DOMAIN_EXCLUDE");
  if (!include.empty() && !exclude.empty()) {
    runtime::say(
        "MSPROF_MSTX_DOMAIN_INCLUDE and MSPROF_MSTX_DOMAIN_EXCLUDE are both set: "
        "only the domains of the first are recorded");
  }
  return DomainFilter(include, exclude);
}

bool DomainFilter::takes(std::string_view domain) const {
  return names_.contains(domain) == lists_wanted_ || (!lists_wanted_ && names_.empty());
}

}  // namespace msprof::mstx
