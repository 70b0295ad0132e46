// The number of a process among those of a distributed run, as launchers tell it.
#pragma once

#include <optional>
#include <string>

namespace msprof {

// RANK_ID=N for an application, from the variables of torchrun, mpirun, srun and the like; nothing
// where RANK_ID is set already, or no launcher has set one.
std::optional<std::string> rank_variable();

}  // namespace msprof
