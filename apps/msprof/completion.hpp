// Candidates for a word on a command line, derived from the command tree, so that names are defined
// only once. For completion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "msprof/command_line.hpp"

namespace msprof::completion {

struct Candidate {
  std::string rest;  // the text after the part already typed
  std::string help;
  bool goes_on = false;  // the word continues after `rest`: a folder
};

// Returns candidates for `typed`, the word under the cursor. `before` contains the words between
// the program's name and it. Empty if nothing is known to match.
std::vector<Candidate> candidates(const cli::Command& root, const std::vector<std::string>& before,
                                  const std::string& typed);

// Returns files and folders, for words that belong to the shell.
std::vector<Candidate> file_candidates(const std::string& typed);

// The scripts in completion/, for `msprof completion`.
struct CompletionScript {
  std::string_view shell;
  std::string_view text;
};

const std::vector<CompletionScript>& completion_scripts();

}  // namespace msprof::completion
