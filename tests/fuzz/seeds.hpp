// Seeds: small valid captures, layouts and ini files, built here instead of stored as binary files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace msprof::fuzz {

// A capture folder as bytes for fuzz_job_folder, one file after another, each
//   u8 location (0: capture folder, 1: data/), u8 name length, name, u16 content length, content.
struct SeedFile {
  bool in_data;
  std::string name;
  std::string content;
};
std::string pack(const std::vector<SeedFile>& files);

// Answers of boards, in the format of fuzz_board_answer.
std::vector<std::string> board_answers();

// Rank summaries, for fuzz_part.
std::vector<std::string> parts();

// Files with tables of a store, for fuzz_store_pages.
std::vector<std::string> stores();

// Captures of CANN 5 and of 2019 to 2021 including names, for fuzz_old_folder.
std::vector<std::string> old_folders();

// Returns the seeds of a target: "board_answer", "cann_…", "ini", "job_folder", "layout", "old",
// "old_folder", "part", "options", "sql" or "store_pages".
std::vector<std::string> seeds(std::string_view target);

}  // namespace msprof::fuzz
