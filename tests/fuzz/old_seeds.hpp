// Files of small captures of CANN 5 and of 2019 to 2021, for fuzz_old.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msprof::fuzz {

// Names with bytes, of a PROF folder or of a JOB folder; info files are not among them.
std::vector<std::pair<std::string, std::string>> old_files(bool is_job);

// Inputs of fuzz_old: a byte that says which folder, then files: u8 number among old_files(), u16
// length, bytes.
std::vector<std::string> old_seeds();

}  // namespace msprof::fuzz
