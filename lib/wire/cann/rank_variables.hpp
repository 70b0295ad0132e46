// Environment variables that contain the rank of a process in a distributed run. The collector sets
// RANK_ID from them; the runtime writes the rank to info.json. Source: docs/collect_cann.md.
#pragma once

#include <array>

namespace msprof::cann {

// Variables of torchrun, Open MPI, MPICH and Intel MPI, and srun. The first one that is set is
// used. Slurm also sets SLURM_PROCID in batch scripts, where it is not a rank; only a step has
// SLURM_STEP_ID.
struct RankVariable {
  const char* name;
  const char* needed = nullptr;  // another variable that must be set
};
inline constexpr std::array kRankVariables = {
    RankVariable{"RANK"},
    RankVariable{"OMPI_COMM_WORLD_RANK"},
    RankVariable{"PMI_RANK"},
    RankVariable{"PMIX_RANK"},
    RankVariable{"SLURM_PROCID", "SLURM_STEP_ID"},
};

}  // namespace msprof::cann
