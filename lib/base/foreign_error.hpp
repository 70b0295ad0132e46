// Maps system failures to exit codes: standard exceptions, for main() and run_side_by_side(), and
// files that cannot be read.
#pragma once

#include <exception>

#include "base/error.hpp"

namespace msprof {

// Returns cannot_write if memory or threads run out, and cannot_write or partial_data for file
// system errors. Any other exception becomes "internal error: ...".
Error to_error(const std::exception& exception);

// Returns nothing_to_do if the file does not exist, else partial_data: errors such as too many open
// files do not show whether the file exists.
Exit to_unreadable_exit(int error_number);

}  // namespace msprof
