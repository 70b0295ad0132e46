// The executable of a project and the libraries that go with it. For check_project().
#pragma once

#include <string>
#include <vector>

#include "collect/project.hpp"
#include "doctor/check.hpp"

namespace msprof {

// Adds checks about the file, and about svp_acl_init and svp_acl_finalize. `head` gets its first
// bytes where it is an ELF file. Returns the libraries that neither it nor the project holds.
std::vector<std::string> check_program(CheckList& list, const Project& project, std::string& head);

// Where the dynamic loader of this machine looks, besides the folders of the project.
std::vector<std::string> library_folders();
// Those of `names` that are in none of library_folders().
std::vector<std::string> libraries_missing_here(const std::vector<std::string>& names);

}  // namespace msprof
