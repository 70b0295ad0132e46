// A part of a name that nobody else has. For temporary files and runs: the number of a process is
// not one, as containers share numbers and the name of their host.
#pragma once

#include <string>

namespace msprof {

// 64 random bits as 16 hexadecimal digits.
std::string random_name();

}  // namespace msprof
