#include "base/counted.hpp"

#include "base/text.hpp"

namespace msprof {

std::string word_for(std::uint64_t count, std::string_view one, std::string_view many) {
  if (count == 1) return std::string(one);
  return many.empty() ? std::string(one) + "s" : std::string(many);
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return with_thousands(count) + " " + word_for(count, one, many);
}

}  // namespace msprof
