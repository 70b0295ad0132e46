// The command line of CANN's collector: `msprof [options] application arguments`, `msprof
// --application="…" [options]`, and work on an existing folder, `msprof --export=on
// --output=PROF_…`. For main(), before any verb.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collect/cann/collector_options.hpp"
#include "msprof/command_line.hpp"
#include "msprof/verbs.hpp"

namespace msprof {

struct ApplicationLine {
  CollectorSettings settings;
  std::vector<std::string> application;  // and its arguments; empty: none is run
  bool is_quoted = false;                // it came as --application
};

// Declares the options for --help and completion. They are parsed here, not with those of verbs.
void add_application_options(cli::Command& root);

// Nothing where `words` (without the program's name) are a verb's, or neither. Throws Error(usage)
// with one sentence for options that are wrong.
std::optional<ApplicationLine> parse_application_line(const cli::Command& root,
                                                      const std::vector<std::string>& words);

Exit run_application_line(const ApplicationLine& line);

}  // namespace msprof
