// Language of texts for people: --lang, else from the environment. For advise and report.
#pragma once

#include <string>

#include "analyze/advise/rule.hpp"
#include "msprof/command_line.hpp"

namespace msprof {

void add_language_option(cli::Command& command, std::string& language);

// `option`: the value of --lang, or empty. If empty, uses the first nonempty of LC_ALL, LC_MESSAGES
// and LANG, as in the C library.
Language choose_language(const std::string& option);

}  // namespace msprof
