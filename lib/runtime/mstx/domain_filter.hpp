// Selects the domains that are recorded: all, only those in a list, or all except those in a list.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace msprof::mstx {

class DomainFilter {
 public:
  // Comma-separated names; empty: no list. If both are given, `exclude` is ignored.
  explicit DomainFilter(std::string_view include = {}, std::string_view exclude = {});
  // Reads MSPROF_MSTX_DOMAIN_INCLUDE and MSPROF_MSTX_DOMAIN_EXCLUDE. Prints a message on stderr if
  // both are set.
  static DomainFilter from_environment();

  bool takes(std::string_view domain) const;

 private:
  bool lists_wanted_ = false;  // false: the list contains the excluded names
  std::set<std::string, std::less<>> names_;
};

}  // namespace msprof::mstx
