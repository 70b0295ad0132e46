// Domains that are recorded: all, only those of a list, or all but those of a list.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace msprof::mstx {

class DomainFilter {
 public:
  // Names with commas between them; empty: no list. Where both are given, `include` counts.
  explicit DomainFilter(std::string_view include = {}, std::string_view exclude = {});
  // From MSPROF_MSTX_DOMAIN_INCLUDE and MSPROF_MSTX_DOMAIN_EXCLUDE. Says so on stderr where both
  // are set.
  static DomainFilter from_environment();

  bool takes(std::string_view domain) const;

 private:
  bool lists_wanted_ = false;  // else the list is of those to leave out
  std::set<std::string, std::less<>> names_;
};

}  // namespace msprof::mstx
