// Failures of the system as exit codes: exceptions of the standard library, for main() and
// run_side_by_side(), and files that cannot be read.
#pragma once

#include <exception>

#include "base/error.hpp"

namespace msprof {

// No memory and no thread are cannot_write; a file system that refuses is cannot_write or
// partial_data. Anything else is an "internal error: ...".
Error error_of(const std::exception& exception);

// nothing_to_do for a file that is not there, partial_data for one that cannot be read: too many
// open files and a disk error say nothing about whether it is there.
Exit exit_of_unreadable(int error_number);

}  // namespace msprof
