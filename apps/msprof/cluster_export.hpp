// msprof export cluster.
#pragma once

#include "msprof/command_line.hpp"

namespace msprof {

void add_cluster_export(cli::Command& parent);

}  // namespace msprof
