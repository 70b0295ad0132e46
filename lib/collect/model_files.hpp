// The model files that a run can load, with their checksums: two models of one name are told apart
// by them. For the collector.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "collect/project.hpp"

namespace msprof {

struct ModelFile {
  std::string file;  // relative to the project where it is in it, else absolute
  std::uint64_t bytes = 0;
  std::string sha256;  // empty: the models together are too large to be read
};

// True for "a.om", and for "a.json" in a folder "models": what boards and the host runtime load.
bool is_model_name(const std::filesystem::path& path);

// Those among the files of the project, also where these are links; of one that is not copied,
// those in its folder and in the folders "model" and "models" there; and those that `arguments`
// name and that are there. At most 64, by name.
std::vector<ModelFile> find_model_files(const Project& project,
                                        const std::vector<std::string>& arguments);

}  // namespace msprof
