// Candidates for a word on a command line: read off the command tree, so that no name stands twice.
// For completion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "msprof/command_line.hpp"

namespace msprof::completion {

struct Candidate {
  std::string rest;  // what follows the word that is being typed
  std::string help;
  bool goes_on = false;  // the word does not end with it: a folder
};

// Candidates for `typed`, the word under the cursor, behind `before`, the words between the
// program's name and it. Empty if nothing is known to fit.
std::vector<Candidate> candidates(const cli::Command& root, const std::vector<std::string>& before,
                                  const std::string& typed);

// Files and folders, for words of the shell itself.
std::vector<Candidate> file_candidates(const std::string& typed);

// The scripts of completion/, for `msprof completion`.
struct CompletionScript {
  std::string_view shell;
  std::string_view text;
};

const std::vector<CompletionScript>& completion_scripts();

}  // namespace msprof::completion
