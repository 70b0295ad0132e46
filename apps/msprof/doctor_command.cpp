// msprof doctor.
#include "msprof/verbs.hpp"

namespace msprof {

void add_doctor_command(cli::Command&) {}

}  // namespace msprof
