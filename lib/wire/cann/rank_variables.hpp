// Variables in which a process of a distributed run finds its rank. For the collector, which sets
// RANK_ID from them, and the runtime, which writes the rank into info.json. Source:
// docs/collect_cann.md.
#pragma once

#include <array>

namespace msprof::cann {

// Of torchrun, Open MPI, MPICH and Intel MPI, srun; the first that is set counts. Slurm sets its
// variable in the script of a batch job, too, where it is no rank: a step has one of its own.
struct RankVariable {
  const char* name;
  const char* needed = nullptr;  // must be set as well
};
inline constexpr std::array kRankVariables = {
    RankVariable{"RANK"},
    RankVariable{"OMPI_COMM_WORLD_RANK"},
    RankVariable{"PMI_RANK"},
    RankVariable{"PMIX_RANK"},
    RankVariable{"SLURM_PROCID", "SLURM_STEP_ID"},
};

}  // namespace msprof::cann
