// Files of small captures of CANN 5 and of 2019 to 2021, for fuzz_old.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msprof::fuzz {

// Returns names and bytes of files of a PROF folder or a JOB folder, without info files.
std::vector<std::pair<std::string, std::string>> old_files(bool is_job);

// Returns inputs of fuzz_old: a byte that selects the folder, then files: u8 number in old_files(),
// u16 length, bytes.
std::vector<std::string> old_seeds();

}  // namespace msprof::fuzz
