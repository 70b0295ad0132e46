// Language of texts for people: --lang, else that of the environment. For advise and report.
#pragma once

#include <string>

#include "analyze/advise/rule.hpp"
#include "msprof/command_line.hpp"

namespace msprof {

void add_language_option(cli::Command& command, std::string& language);

// `option`: what --lang said, empty where it was not given; then the first of LC_ALL, LC_MESSAGES
// and LANG that says anything decides, as in the C library.
Language language_of(const std::string& option);

}  // namespace msprof
