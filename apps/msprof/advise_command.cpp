// msprof advise.
#include "msprof/verbs.hpp"

namespace msprof {

void add_advise_command(cli::Command&) {}

}  // namespace msprof
