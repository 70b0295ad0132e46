#include "collect/cann/rank.hpp"

#include <array>
#include <cstdlib>
#include <string_view>

#include "base/text.hpp"

namespace msprof {

namespace {

// Of torchrun, Open MPI, MPICH and Intel MPI, srun; the first that is set counts. Slurm sets its
// variable in the script of a batch job, too, where it is no rank: a step has one of its own.
struct LauncherVariable {
  const char* name;
  const char* needed;
};
constexpr std::array kLauncherVariables = {
    LauncherVariable{"RANK", nullptr},
    LauncherVariable{"OMPI_COMM_WORLD_RANK", nullptr},
    LauncherVariable{"PMI_RANK", nullptr},
    LauncherVariable{"PMIX_RANK", nullptr},
    LauncherVariable{"SLURM_PROCID", "SLURM_STEP_ID"},
};

}  // namespace

std::optional<std::string> rank_variable() {
  const char* const own = std::getenv("RANK_ID");
  if (own != nullptr && *own != '\0') return std::nullopt;
  for (const auto& [name, needed] : kLauncherVariables) {
    const char* const value = std::getenv(name);
    if (needed != nullptr && std::getenv(needed) == nullptr) continue;
    std::uint64_t rank = 0;
    if (value != nullptr && parse_u64(value, rank)) return "RANK_ID=" + std::to_string(rank);
  }
  return std::nullopt;
}

}  // namespace msprof
