// Checks of a project before a run: its executable, acl.json and models, without running anything.
// Used by `msprof doctor`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "doctor/check.hpp"

namespace msprof {

struct ProjectQuestion {
  std::optional<std::string> main;  // as for collect; empty: main or out/main, if it exists
  std::optional<std::string> project;
  std::optional<std::string> acl_json;
  bool is_on_board = false;                          // the run is on a board, otherwise on this
                                                     // machine
  std::vector<std::filesystem::path> private_files;  // never copied: the ini file and the key
  std::vector<std::filesystem::path> never_copied;   // folders
};

// Facts for the checks of the machine that runs the project.
struct ProjectInfo {
  std::uint64_t bytes = 0;             // size of the copy
  std::string program_head;            // first bytes of the executable; empty: no executable, or
                                       // not ELF
  std::vector<std::string> libraries;  // required libraries that are in no folder of the project
                                       // that the loader searches
  std::vector<std::string> run_paths;  // folders outside the project that the loader searches first
  // Paths of libraries that are elsewhere in the project.
  std::map<std::string, std::filesystem::path> misplaced;
  // Pairs of an acl.json file and its absolute output folder.
  std::vector<std::pair<std::string, std::string>> outputs;
};

// Adds checks about "project"; a skipped check if there is no project.
ProjectInfo check_project(CheckList& list, const ProjectQuestion& question);

}  // namespace msprof
