// msprof completion.
#include "msprof/verbs.hpp"

namespace msprof {

void add_completion_command(cli::Command&) {}

}  // namespace msprof
