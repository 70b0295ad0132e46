// The rank of a process in a distributed run, from the variables of its launcher.
#pragma once

#include <optional>
#include <string>

namespace msprof {

// Returns RANK_ID=N for an application, from the variables of torchrun, mpirun, srun and similar
// launchers; nullopt if RANK_ID is already set, or if there is no launcher variable.
std::optional<std::string> find_rank_variable();

}  // namespace msprof
