#include "doctor/project_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "base/file_reader.hpp"
#include "base/text.hpp"
#include "collect/cann/application.hpp"
#include "collect/elf_file.hpp"
#include "collect/project.hpp"
#include "doctor/acl_checks.hpp"
#include "doctor/script_checks.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Functions of the boards' interface, followed by those of Atlas machines.
constexpr std::string_view kInit[] = {"svp_acl_init", "aclInit"};
constexpr std::string_view kFinalize[] = {"svp_acl_finalize", "aclFinalize"};
constexpr std::string_view kOwnProfiling[] = {"svp_acl_prof_init", "svp_acl_prof_start",
                                              "aclprofInit", "aclprofStart"};

constexpr std::size_t kMaxLibraries = 500;  // a typical program needs a tenth of it

class ProgramChecks {
 public:
  ProgramChecks(CheckList& list, const Project& project, ProjectInfo& info)
      : list_(list), project_(project), info_(info) {
    for (const ProjectEntry& entry : project.entries) {
      if (entry.kind != EntryKind::folder) by_path_.emplace(entry.path, entry.source);
    }
    // The LD_LIBRARY_PATH that collect sets.
    const fs::path home = project.target.main.parent_path();
    loader_folders_ = {(home / "lib").lexically_normal(), "lib"};
  }

  void check() {
    const fs::path main = project_.target.root / project_.target.main;
    const ElfFile program = read_elf(main);
    list_.ok("executable", fmt::format("{}{}", project_.target.main.string(),
                                       program.is_elf ? "" : ", a script"));
    if (!program.is_elf) {
      return list_.skip("svp_acl calls", "programs started by a script cannot be checked");
    }
    info_.program_head = program.head;
    if (!program.unseen.empty()) {
      return list_.skip("svp_acl calls", fmt::format("cannot be checked: {}", program.unseen),
                        "look in the source for svp_acl_init and svp_acl_finalize");
    }
    collect(program, project_.target.main.parent_path());
    check_calls();
    info_.libraries.assign(missing_.begin(), missing_.end());
    info_.run_paths.assign(run_paths_.begin(), run_paths_.end());
  }

 private:
  // Collects the imports of a program, and recursively those of its libraries in the project.
  // `folder` is the file's folder in the project.
  void collect(const ElfFile& file, const fs::path& folder) {
    imports_.insert(file.imports.begin(), file.imports.end());
    for (const std::string& path : file.run_paths) add_run_path(path, folder);
    for (const std::string& name : file.needed) {
      if (!seen_.insert(name).second) continue;
      const fs::path own = find_in_project(name);
      if (!own.empty()) collect(read_elf(by_path_.at(own)), own.parent_path());
      const bool is_found = loader_folders_.contains(own.parent_path()) && !own.empty();
      if (is_found || missing_.size() >= kMaxLibraries) continue;
      missing_.insert(name);
      if (!own.empty()) info_.misplaced.emplace(name, own);
    }
  }

  // "$ORIGIN/../lib" is a folder of the project, "/usr/local/lib" is not.
  void add_run_path(std::string_view path, const fs::path& folder) {
    for (const std::string_view origin : {"$ORIGIN", "${ORIGIN}"}) {
      if (!path.starts_with(origin)) continue;
      const std::string rest = "./" + std::string(path.substr(origin.size()));
      fs::path place = (folder / rest).lexically_normal();
      if (!place.has_filename()) place = place.parent_path();
      loader_folders_.insert(place == "." ? fs::path() : place);
    }
    if (path.starts_with('/')) run_paths_.emplace(path);
  }

  // Finds a library where the loader searches, otherwise anywhere in the project; empty if not
  // found.
  fs::path find_in_project(const std::string& name) const {
    for (const fs::path& folder : loader_folders_) {
      if (by_path_.contains(folder / name)) return folder / name;
    }
    const auto found = std::find_if(by_path_.begin(), by_path_.end(), [&](const auto& entry) {
      return entry.first.filename() == name;
    });
    return found == by_path_.end() ? fs::path() : found->first;
  }

  template <std::size_t kCount>
  std::string first_imported(const std::string_view (&names)[kCount]) const {
    for (const std::string_view name : names) {
      if (imports_.contains(name)) return std::string(name);
    }
    return "";
  }

  void check_calls() {
    const std::string init = first_imported(kInit);
    const std::string finalize = first_imported(kFinalize);
    if (init.empty()) {
      list_.warn("svp_acl calls",
                 fmt::format("neither {} nor a library of the project calls svp_acl_init",
                             project_.target.main.string()),
                 "call svp_acl_init with the path of acl.json first, and svp_acl_finalize at the "
                 "end (calls through dlopen are not detected)");
    } else if (finalize.empty()) {
      list_.warn("svp_acl calls",
                 fmt::format("{} is called, but not svp_acl_finalize: on a board the last second "
                             "(2 MB) of a run is lost",
                             init),
                 "call svp_acl_finalize at the end");
    } else {
      list_.ok("svp_acl calls", fmt::format("{} and {}", init, finalize));
    }
    const std::string own = first_imported(kOwnProfiling);
    if (own.empty()) return;
    list_.warn(
        "profiling by itself",
        fmt::format("{} is called: the application profiles itself, which conflicts with acl.json",
                    own),
        "use msprof collect --switch off, or remove these calls");
  }

  CheckList& list_;
  const Project& project_;
  ProjectInfo& info_;
  std::map<fs::path, fs::path> by_path_;  // path in the project to the file, with links resolved
  std::set<fs::path> loader_folders_;     // folders in the project
  std::set<std::string> run_paths_;       // other folders
  std::set<std::string, std::less<>> imports_;
  std::set<std::string> seen_;
  std::set<std::string> missing_;
};

// Warns if the program is for a different interface than the one being configured.
void check_interface(CheckList& list, const Project& project, const ProjectQuestion& question) {
  if (!is_for_cann(project.target, {}, question.is_on_board)) return;
  const std::string evidence = fmt::format("{} loads libascendcl: it is an application on CANN",
                                           project.target.main.string());
  if (!question.is_on_board && !question.project)
    return list.ok("interface", evidence + ", and msprof collect runs it as such");
  list.warn("interface", evidence + "; it would fail with the acl.json of SVP boards",
            question.is_on_board ? "add --cann to msprof collect, and --upload to copy the project"
                                 : "run msprof collect in its folder, without --project");
}

// Adds checks of the file, and of svp_acl_init and svp_acl_finalize; stores facts about the program
// in `info`.
void check_program(CheckList& list, const Project& project, ProjectInfo& info) {
  ProgramChecks(list, project, info).check();
}

constexpr std::uint64_t kMaxSourceBytes = 1 << 20;
constexpr std::size_t kMaxSources = 2'000;

bool is_source(const ProjectEntry& entry) {
  static const std::set<std::string> kExtensions = {".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"};
  return entry.kind == EntryKind::file && entry.size_bytes <= kMaxSourceBytes &&
         kExtensions.contains(lower_ascii(entry.path.extension().string()));
}

// Returns the line, from 1, of the first call of svp_acl_init without a file in a C source; 0 if
// there is none.
std::size_t line_of_empty_init(std::string_view source) {
  constexpr std::string_view kInitCall = "svp_acl_init";
  std::size_t number = 0;
  for (std::string_view line : split(source, '\n')) {
    ++number;
    line = line.substr(0, line.find("//"));
    const auto at = line.find(kInitCall);
    if (at == std::string_view::npos) continue;
    line = trim(line.substr(at + kInitCall.size()));
    if (!line.starts_with('(')) continue;
    const std::string_view argument = trim(line.substr(1, line.find(')') - 1));
    for (const std::string_view empty : {"\"\"", "NULL", "nullptr", "0"}) {
      if (argument == empty) return number;
    }
  }
  return 0;
}

constexpr std::uint64_t kMaxAclBytes = 16 << 20;
constexpr std::size_t kModelHeadBytes = 4096;
constexpr const char* kUsualMains[] = {"main", "out/main"};
constexpr const char* kUsualAclFiles[] = {"acl.json", "src/acl.json"};

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// Models of this project's runtime are JSON; the format of a board's models is not public.
bool is_own_model(const fs::path& file) {
  std::string head(kModelHeadBytes, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(stream.gcount()));
  return head.find("\"msprof-model\"") != std::string::npos;
}

class ProjectChecks {
 public:
  ProjectChecks(CheckList& list, const ProjectQuestion& question)
      : list_(list), question_(question), current_(fs::current_path()) {}

  ProjectInfo check() {
    const auto main = find_main();
    if (!main) {
      check_without_program();
      return std::move(info_);
    }
    try {
      const ProjectTarget target = find_target(*main, question_.project, current_);
      ScanOptions scan;
      scan.is_limited = !question_.project.has_value();
      scan.private_files = question_.private_files;
      scan.never_copied = question_.never_copied;
      scan.links_may_leave = !question_.is_on_board;
      project_ = scan_project(target, scan);
    } catch (const Error& error) {
      list_.fail("project", error);
      const fs::path folder = fs::path(*main).parent_path();
      check_scripts(list_, current_ / (question_.project ? fs::path(*question_.project) : folder));
      return std::move(info_);
    }
    info_.bytes = project_.bytes;
    list_.ok("project",
             fmt::format("{}, {}, {}", project_.target.root.string(),
                         counted(project_.file_count, "file"), human_bytes(project_.bytes)));
    check_left_out();
    check_program(list_, project_, info_);
    check_interface(list_, project_, question_);
    check_sources();
    check_acl_files();
    check_models();
    check_scripts(list_, project_.target.root);
    return std::move(info_);
  }

 private:
  std::optional<std::string> find_main() const {
    if (question_.main) return question_.main;
    const fs::path base = question_.project ? current_ / *question_.project : current_;
    for (const char* name : kUsualMains) {
      if (is_file(base / name)) return (question_.project ? base / name : fs::path(name)).string();
    }
    return std::nullopt;
  }

  void check_without_program() {
    bool found = false;
    for (const std::string& name : acl_names_here()) {
      found = true;
      check_acl(name, current_ / name);
    }
    if (check_scripts(list_, current_ / question_.project.value_or(""))) found = true;
    if (found) return;
    list_.skip(
        "project",
        "no -m given, and this folder has no main, acl.json, or script that requests a profile",
        "msprof doctor -m MAIN");
  }

  std::vector<std::string> acl_names_here() const {
    if (question_.acl_json) return {*question_.acl_json};
    const fs::path base = question_.project.value_or("");
    std::vector<std::string> names;
    for (const char* name : kUsualAclFiles) {
      if (is_file(current_ / base / name)) names.push_back((base / name).string());
    }
    return names;
  }

  void check_left_out() {
    std::size_t count = 0;
    std::string first;
    for (const Excluded& item : project_.excluded) {
      if (!item.is_unexpected) continue;
      if (++count == 1) first = fmt::format("{} ({})", item.path.string(), item.reason);
    }
    if (count == 0) return;
    list_.warn(
        "copy",
        fmt::format("{} will not be copied: {}{}", counted(count, "entry", "entries"), first,
                    count > 1 ? " …" : ""),
        "msprof collect -v lists all; put the files that the application needs into the project");
  }

  void check_sources() {
    std::size_t count = 0;
    for (const ProjectEntry& entry : project_.entries) {
      if (!is_source(entry) || ++count > kMaxSources) continue;
      std::size_t line = 0;
      try {
        line = line_of_empty_init(read_text_file(entry.source, kMaxSourceBytes));
      } catch (const Error& error) {
        if (error.code() == Exit::interrupted) throw;
      }
      if (line == 0) continue;
      list_.warn(
          "svp_acl_init",
          fmt::format(
              "{}:{} calls it without a file: a board then reads no acl.json and does not record",
              entry.path.string(), line),
          "pass the path of acl.json");
    }
  }

  void check_acl_files() {
    const auto& acl_files = project_.acl_files;
    std::vector<fs::path> done;
    for (const ProjectEntry& entry : project_.entries) {
      if (std::find(acl_files.begin(), acl_files.end(), entry.path) == acl_files.end()) continue;
      check_acl(entry.path.string(), entry.source);
      done.push_back(entry.source);
    }
    if (question_.acl_json) {
      for (const fs::path& file :
           {current_ / *question_.acl_json, project_.target.root / *question_.acl_json}) {
        if (!is_file(file)) continue;
        std::error_code error;
        const bool again = std::any_of(done.begin(), done.end(), [&](const fs::path& other) {
          return fs::equivalent(file, other, error);
        });
        if (!again) check_acl(*question_.acl_json, file);
        return;
      }
      list_.fail(
          "acl.json",
          fmt::format("--acl-json {}: no such file here or in the project", *question_.acl_json),
          "give the file that the application passes to svp_acl_init", Exit::nothing_to_do);
    } else if (done.empty()) {
      list_.ok("acl.json",
               "missing: msprof collect creates a default one next to the executable and in "
               "../src; the application must pass its path to svp_acl_init");
    }
  }

  void check_acl(const std::string& name, const fs::path& file) {
    std::string output;
    try {
      output = check_acl_json(list_, name, read_text_file(file, kMaxAclBytes));
    } catch (const Error& error) {
      if (error.code() == Exit::interrupted) throw;
      return list_.fail(name, error.what(), "give the file with --acl-json", Exit::nothing_to_do);
    }
    if (output.empty()) return;
    if (fs::path(output).is_relative()) {
      list_.ok(fmt::format("{}: output", name),
               fmt::format("{}, in the application's start folder", output));
    } else if (question_.is_on_board) {
      info_.outputs.emplace_back(name, output);
    } else {
      check_acl_output(list_, name, output);
    }
  }

  void check_models() {
    std::size_t ours = 0;
    std::size_t others = 0;
    std::string first;
    for (const ProjectEntry& entry : project_.entries) {
      const fs::path extension = entry.path.extension();
      if (entry.kind == EntryKind::folder || (extension != ".om" && extension != ".json")) continue;
      if (is_own_model(entry.source)) {
        ++ours;
      } else if (extension == ".om" && ++others == 1) {
        first = entry.path.string();
      }
    }
    if (others > 0) {
      list_.skip("models",
                 fmt::format("{} ({}{}): the file does not show whether it can be profiled",
                             counted(others, "model"), first, others > 1 ? " …" : ""),
                 "convert with atc … --online_model_type=2; without it a run records no layers");
    }
    if (ours > 0) {
      list_.ok("models", fmt::format("{} for msprof's own runtime: no conversion needed",
                                     counted(ours, "model")));
    }
  }

  CheckList& list_;
  const ProjectQuestion& question_;
  fs::path current_;
  Project project_;
  ProjectInfo info_;
};

}  // namespace

ProjectInfo check_project(CheckList& list, const ProjectQuestion& question) {
  list.begin("project");
  return ProjectChecks(list, question).check();
}

}  // namespace msprof
