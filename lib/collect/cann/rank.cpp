#include "collect/cann/rank.hpp"

#include <cstdlib>

#include "base/text.hpp"
#include "wire/cann/rank_variables.hpp"

namespace msprof {

std::optional<std::string> find_rank_variable() {
  const char* const own = std::getenv("RANK_ID");
  if (own != nullptr && *own != '\0') return std::nullopt;
  for (const auto& [name, needed] : cann::kRankVariables) {
    const char* const value = std::getenv(name);
    if (needed != nullptr && std::getenv(needed) == nullptr) continue;
    std::uint64_t rank = 0;
    if (value != nullptr && parse_u64(value, rank)) return "RANK_ID=" + std::to_string(rank);
  }
  return std::nullopt;
}

}  // namespace msprof
