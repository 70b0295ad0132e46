// Inputs to start from: small valid captures, layouts and ini files, built here, no binary files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace msprof::fuzz {

// A capture folder as bytes for fuzz_job_folder: a file after the other, each
//   u8 place (0: capture folder, 1: data/), u8 name length, name, u16 content length, content.
struct SeedFile {
  bool in_data;
  std::string name;
  std::string content;
};
std::string pack(const std::vector<SeedFile>& files);

// What boards answer, as fuzz_board_answer takes it.
std::vector<std::string> board_answers();

// Parts of ranks, for fuzz_part.
std::vector<std::string> parts();

// Files with tables of a store, for fuzz_store_pages.
std::vector<std::string> stores();

// Captures of CANN 5 and of 2019 to 2021 with their names, for fuzz_old_folder.
std::vector<std::string> old_folders();

// The seeds of a target: "board_answer", "cann_…", "ini", "job_folder", "layout", "old",
// "old_folder", "part", "script", "sql" or "store_pages".
std::vector<std::string> seeds(std::string_view target);

}  // namespace msprof::fuzz
