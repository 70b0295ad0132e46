// The model files that a run can load, with checksums to distinguish models of the same name. Used
// by the collector.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "collect/project.hpp"

namespace msprof {

struct ModelFile {
  std::string file;  // relative to the project if inside it, else absolute
  std::uint64_t bytes = 0;
  std::string sha256;  // empty: the models are too large in total
};

// Returns true for "a.om", and for "a.json" in a folder "models": the formats that boards and the
// host runtime load.
bool is_model_name(const std::filesystem::path& path);

// Returns the model files of the project, including links, and those in `arguments` that exist. If
// the project is not copied, searches its folder and the folders "model" and "models" there. At
// most 64, sorted by name.
std::vector<ModelFile> find_model_files(const Project& project,
                                        const std::vector<std::string>& arguments);

}  // namespace msprof
