// Names of this machine and of the account that runs msprof.
#pragma once

#include <filesystem>
#include <string>

namespace msprof {

// Returns the kernel's node name, which distinguishes this machine from others that share a folder
// or a board; it may contain any bytes.
std::string own_host_name();

// Returns "root" if the account has no name.
std::string own_account_name();

// Returns $HOME if it is absolute, otherwise the folder in the password file, or "/".
std::filesystem::path own_home_folder();

}  // namespace msprof
