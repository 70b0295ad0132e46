// Checks before a run: the project that collect would copy: its executable, acl.json and models, as
// far as they can be seen without running anything. For `msprof doctor`.
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
  std::optional<std::string> main;  // like that of collect; empty: main or out/main if one is there
  std::optional<std::string> project;
  std::optional<std::string> acl_json;
  bool on_board = false;                             // the run is on a board, else here
  std::vector<std::filesystem::path> private_files;  // never copied: the ini file and the key
  std::vector<std::filesystem::path> never_copied;   // folders
};

// Facts for the checks of the machine that runs it.
struct ProjectInfo {
  std::uint64_t bytes = 0;             // of the copy
  std::string program_head;            // first bytes of the executable; empty: none, or no ELF file
  std::vector<std::string> libraries;  // that it needs and no folder of the project gives it
  std::vector<std::string> run_paths;  // folders outside the project, searched for them first
  // Paths of libraries that lie in the project all the same.
  std::map<std::string, std::filesystem::path> misplaced;
  // Absolute folders that acl.json files name, with the name of the file.
  std::vector<std::pair<std::string, std::string>> outputs;
};

// Adds checks about "project"; a skipped one if there is none.
ProjectInfo check_project(CheckList& list, const ProjectQuestion& question);

}  // namespace msprof
