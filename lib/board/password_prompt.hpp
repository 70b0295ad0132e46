// The question for a password, on the user's terminal. For password_source().
#pragma once

#include <optional>
#include <string>

#include "ssh/secret.hpp"

namespace msprof {

// Shows `question` and reads a line that is not shown. Empty where there is nobody to ask (stderr
// is no terminal) or the answer is an end of file. The terminal is as before on every way out;
// Ctrl-C throws Error(interrupted).
std::optional<Secret> ask_password(const std::string& question);

}  // namespace msprof
