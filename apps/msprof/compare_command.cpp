// msprof compare.
#include "msprof/verbs.hpp"

namespace msprof {

void add_compare_command(cli::Command&) {}

}  // namespace msprof
