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

// The seeds of a target: "ini", "job_folder" or "layout".
std::vector<std::string> seeds(std::string_view target);

}  // namespace msprof::fuzz
