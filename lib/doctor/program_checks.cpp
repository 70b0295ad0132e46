#include "doctor/program_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "base/text.hpp"
#include "collect/elf_file.hpp"

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
  ProgramChecks(CheckList& list, const Project& project, ProjectFacts& facts)
      : list_(list), project_(project), facts_(facts) {
    for (const ProjectEntry& entry : project.entries) {
      if (entry.kind != EntryKind::folder) by_path_.emplace(entry.path, entry.source);
    }
    // As collect sets LD_LIBRARY_PATH.
    const fs::path home = project.target.main.parent_path();
    loader_looks_ = {(home / "lib").lexically_normal(), "lib"};
  }

  void check() {
    const fs::path main = project_.target.root / project_.target.main;
    const ElfFile program = read_elf(main);
    list_.ok("executable", fmt::format("{}{}", project_.target.main.string(),
                                       program.is_elf ? "" : ", a script"));
    if (!program.is_elf) {
      return list_.skip("svp_acl calls", "what a script starts cannot be seen");
    }
    facts_.program_head = program.head;
    if (!program.unseen.empty()) {
      return list_.skip("svp_acl calls", fmt::format("cannot be seen: {}", program.unseen),
                        "look in the source for svp_acl_init and svp_acl_finalize");
    }
    collect(program, project_.target.main.parent_path());
    check_calls();
    facts_.libraries.assign(missing_.begin(), missing_.end());
    facts_.run_paths.assign(run_paths_.begin(), run_paths_.end());
  }

 private:
  // What a program takes, with the libraries of the project that it needs, and theirs. `folder` of
  // the project is where the file lies.
  void collect(const ElfFile& file, const fs::path& folder) {
    imports_.insert(file.imports.begin(), file.imports.end());
    for (const std::string& path : file.run_paths) add_run_path(path, folder);
    for (const std::string& name : file.needed) {
      if (!seen_.insert(name).second) continue;
      const fs::path own = find_in_project(name);
      if (!own.empty()) collect(read_elf(by_path_.at(own)), own.parent_path());
      const bool is_found = loader_looks_.contains(own.parent_path()) && !own.empty();
      if (is_found || missing_.size() >= kMostLibraries) continue;
      missing_.insert(name);
      if (!own.empty()) facts_.misplaced.emplace(name, own);
    }
  }

  // "$ORIGIN/../lib" is a folder of the project, "/usr/local/lib" none.
  void add_run_path(std::string_view path, const fs::path& folder) {
    for (const std::string_view origin : {"$ORIGIN", "${ORIGIN}"}) {
      if (!path.starts_with(origin)) continue;
      const std::string rest = "./" + std::string(path.substr(origin.size()));
      fs::path place = (folder / rest).lexically_normal();
      if (!place.has_filename()) place = place.parent_path();
      loader_looks_.insert(place == "." ? fs::path() : place);
    }
    if (path.starts_with('/')) run_paths_.emplace(path);
  }

  // Where the loader looks, else anywhere; empty: nowhere.
  fs::path find_in_project(const std::string& name) const {
    for (const fs::path& folder : loader_looks_) {
      if (by_path_.contains(folder / name)) return folder / name;
    }
    const auto found = std::find_if(by_path_.begin(), by_path_.end(), [&](const auto& entry) {
      return entry.first.filename() == name;
    });
    return found == by_path_.end() ? fs::path() : found->first;
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
                 fmt::format("{} is called, and no svp_acl_finalize: on a board the last second "
                             "(2 MB) of a run is lost",
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
  ProjectFacts& facts_;
  std::map<fs::path, fs::path> by_path_;  // of the project; the file itself
  std::set<fs::path> loader_looks_;       // folders of the project
  std::set<std::string> run_paths_;       // others
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

void check_program(CheckList& list, const Project& project, ProjectFacts& facts) {
  ProgramChecks(list, project, facts).check();
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

std::vector<std::string> libraries_missing_here(const std::vector<std::string>& names,
                                                const std::vector<std::string>& run_paths) {
  auto folders = library_folders();
  folders.insert(folders.end(), run_paths.begin(), run_paths.end());
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
