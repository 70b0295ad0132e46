// Command line of CANN's collector: `msprof [options] application arguments`, `msprof
// --application="…" [options]`, and work on an existing folder, `msprof --export=on
// --output=PROF_…`. Called by main() before any verb.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collect/cann/collector_options.hpp"
#include "msprof/command_line.hpp"
#include "msprof/verbs.hpp"

namespace msprof {

struct ApplicationLine {
  CollectorSettings settings;
  std::vector<std::string> application;  // program and arguments; empty: no application
  bool is_quoted = false;                // passed as --application
};

// Declares the options for --help and completion. Parsing is done here, not by the parser of verbs.
void add_application_options(cli::Command& root);

// Returns an empty optional if `words` (without the program's name) are not a line of this form,
// for example a verb's. Throws Error(usage) if an option is invalid.
std::optional<ApplicationLine> parse_application_line(const cli::Command& root,
                                                      const std::vector<std::string>& words);

Exit run_application_line(const ApplicationLine& line);

// Splits the value of `option` into words like a shell, without expansions. Throws Error(usage) if
// a quote is not closed.
std::vector<std::string> split_command(const std::string& text, std::string_view option);

}  // namespace msprof
