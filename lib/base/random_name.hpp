// Unique part of a name, for temporary files and runs. Process ids are not unique: two containers
// can have the same ids and the same host name.
#pragma once

#include <string>

namespace msprof {

// Returns 64 random bits as 16 hexadecimal digits.
std::string random_name();

}  // namespace msprof
