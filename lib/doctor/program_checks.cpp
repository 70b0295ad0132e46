#include "doctor/program_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "base/text.hpp"
#include "doctor/elf_file.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// What an application of a board calls, and what one of an Atlas machine calls.
constexpr std::string_view kInit[] = {"svp_acl_init", "aclInit"};
constexpr std::string_view kFinalize[] = {"svp_acl_finalize", "aclFinalize"};
constexpr std::string_view kOwnProfiling[] = {"svp_acl_prof_init", "svp_acl_prof_start",
                                              "aclprofInit", "aclprofStart"};

constexpr std::size_t kMostLibraries = 500;  // a sane program needs a tenth of it

class ProgramChecks {
 public:
  ProgramChecks(CheckList& list, const Project& project) : list_(list), project_(project) {
    for (const ProjectEntry& entry : project.entries) {
      if (entry.kind == EntryKind::folder) continue;
      by_name_.emplace(entry.path.filename().string(), entry.source);
    }
  }

  std::vector<std::string> check(std::string& head) {
    const fs::path main = project_.target.root / project_.target.main;
    const ElfFile program = read_elf(main);
    list_.ok("executable", fmt::format("{}{}", project_.target.main.string(),
                                       program.is_elf ? "" : ", a script"));
    if (!program.is_elf) {
      list_.skip("svp_acl calls", "what a script starts cannot be seen");
      return {};
    }
    head = program.head;
    if (!program.unseen.empty()) {
      list_.skip("svp_acl calls", fmt::format("cannot be seen: {}", program.unseen),
                 "look in the source for svp_acl_init and svp_acl_finalize");
      return {};
    }
    collect(program);
    check_calls();
    return {missing_.begin(), missing_.end()};
  }

 private:
  // What a program takes, with the libraries of the project that it needs, and theirs.
  void collect(const ElfFile& file) {
    imports_.insert(file.imports.begin(), file.imports.end());
    for (const std::string& name : file.needed) {
      if (!seen_.insert(name).second) continue;
      const auto own = by_name_.find(name);
      if (own == by_name_.end()) {
        if (missing_.size() < kMostLibraries) missing_.insert(name);
      } else {
        collect(read_elf(own->second));
      }
    }
  }

  template <std::size_t kCount>
  std::string first_of(const std::string_view (&names)[kCount]) const {
    for (const std::string_view name : names) {
      if (imports_.contains(name)) return std::string(name);
    }
    return "";
  }

  void check_calls() {
    const std::string init = first_of(kInit);
    const std::string finalize = first_of(kFinalize);
    if (init.empty()) {
      list_.warn("svp_acl calls",
                 fmt::format("neither {} nor a library of the project calls svp_acl_init",
                             project_.target.main.string()),
                 "call svp_acl_init with the path of acl.json first, and svp_acl_finalize at the "
                 "end (one that loads its runtime with dlopen may do so unseen)");
    } else if (finalize.empty()) {
      list_.warn("svp_acl calls",
                 fmt::format("{} is called, and no svp_acl_finalize: the last second (2 MB) of a "
                             "run is lost",
                             init),
                 "call svp_acl_finalize at the end");
    } else {
      list_.ok("svp_acl calls", fmt::format("{} and {}", init, finalize));
    }
    const std::string own = first_of(kOwnProfiling);
    if (own.empty()) return;
    list_.warn(
        "profiling by itself",
        fmt::format("{} is called: the application profiles itself, which excludes acl.json", own),
        "run it without msprof collect and acl.json's switch off, or take these calls out");
  }

  CheckList& list_;
  const Project& project_;
  std::map<std::string, fs::path> by_name_;
  std::set<std::string, std::less<>> imports_;
  std::set<std::string> seen_;
  std::set<std::string> missing_;
};

void add_folders(const std::string& text, char separator, std::vector<std::string>& folders) {
  for (const std::string_view part : split(text, separator)) {
    const std::string_view folder = trim(part);
    if (folder.starts_with('/')) folders.emplace_back(folder);
  }
}

void add_folders_of(const fs::path& file, std::vector<std::string>& folders) {
  std::ifstream stream(file);
  std::string line;
  while (std::getline(stream, line)) add_folders(line, '\n', folders);
}

}  // namespace

std::vector<std::string> check_program(CheckList& list, const Project& project, std::string& head) {
  return ProgramChecks(list, project).check(head);
}

std::vector<std::string> library_folders() {
  std::vector<std::string> folders;
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) add_folders(path, ':', folders);
  for (const char* folder : {"/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"})
    folders.emplace_back(folder);
  add_folders_of("/etc/ld.so.conf", folders);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/etc/ld.so.conf.d", error)) {
    if (entry.path().extension() == ".conf") add_folders_of(entry.path(), folders);
  }
  return folders;
}

std::vector<std::string> libraries_missing_here(const std::vector<std::string>& names) {
  const auto folders = library_folders();
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    const bool found = std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
      std::error_code error;
      return fs::exists(fs::path(folder) / name, error);
    });
    if (!found) missing.push_back(name);
  }
  return missing;
}

}  // namespace msprof
