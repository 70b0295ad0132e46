#include "collect/cann/rank.hpp"

#include <array>
#include <cstdlib>
#include <string_view>

#include "base/text.hpp"

namespace msprof {

namespace {

// torchrun, Open MPI, MPICH and Intel MPI, srun; the first that is set counts.
constexpr std::array kLauncherVariables = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                           "SLURM_PROCID"};

}  // namespace

std::optional<std::string> rank_variable() {
  const char* const own = std::getenv("RANK_ID");
  if (own != nullptr && *own != '\0') return std::nullopt;
  for (const char* const name : kLauncherVariables) {
    const char* const value = std::getenv(name);
    std::uint64_t rank = 0;
    if (value != nullptr && parse_u64(value, rank)) return "RANK_ID=" + std::to_string(rank);
  }
  return std::nullopt;
}

}  // namespace msprof
