// The executable of a project and the libraries that go with it. For check_project().
#pragma once

#include <string>
#include <vector>

#include "collect/project.hpp"
#include "doctor/check.hpp"
#include "doctor/project_checks.hpp"

namespace msprof {

// Adds checks about the file, and about svp_acl_init and svp_acl_finalize; fills in what `facts`
// has about the program.
void check_program(CheckList& list, const Project& project, ProjectFacts& facts);

// Where the dynamic loader of this machine looks, besides the folders of the project.
std::vector<std::string> library_folders();
// Those of `names` that are in none of library_folders() and `run_paths`.
std::vector<std::string> libraries_missing_here(const std::vector<std::string>& names,
                                                const std::vector<std::string>& run_paths);

}  // namespace msprof
