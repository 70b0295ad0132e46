// The command `msprof export parquet`. For export_command.cpp.
#pragma once

#include "msprof/command_line.hpp"

namespace msprof {

void add_export_parquet(cli::Command& parent);

}  // namespace msprof
