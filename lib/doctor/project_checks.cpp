#include "doctor/project_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/file_reader.hpp"
#include "base/text.hpp"
#include "collect/project.hpp"
#include "doctor/acl_checks.hpp"
#include "doctor/program_checks.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMostAclBytes = 16 << 20;
constexpr std::size_t kModelHeadBytes = 4096;
constexpr const char* kUsualMains[] = {"main", "out/main"};
constexpr const char* kUsualAclFiles[] = {"acl.json", "src/acl.json"};

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// Models of our runtime are JSON; the form of a board's is not public.
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

  ProjectFacts check() {
    const auto main = main_of();
    if (!main) {
      check_without_program();
      return std::move(facts_);
    }
    try {
      const Target target = find_target(*main, question_.project, current_);
      ScanOptions scan;
      scan.limited = !question_.project.has_value();
      scan.private_files = question_.private_files;
      scan.never_copied = question_.never_copied;
      scan.links_may_leave = !question_.on_board;
      project_ = scan_project(target, scan);
    } catch (const Error& error) {
      list_.fail("project", error);
      return std::move(facts_);
    }
    facts_.bytes = project_.bytes;
    list_.ok("project",
             fmt::format("{}, {}, {}", project_.target.root.string(),
                         counted(project_.file_count, "file"), human_bytes(project_.bytes)));
    check_left_out();
    check_program(list_, project_, facts_);
    check_acl_files();
    check_models();
    return std::move(facts_);
  }

 private:
  std::optional<std::string> main_of() const {
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
    if (found) return;
    list_.skip("project", "no -m given, and no main and no acl.json in this folder",
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
    for (const LeftOut& item : project_.left_out) {
      if (!item.unexpected) continue;
      if (++count == 1) first = fmt::format("{} ({})", item.path.string(), item.reason);
    }
    if (count == 0) return;
    list_.warn("copy",
               fmt::format("{} will not be copied: {}{}", counted(count, "entry", "entries"), first,
                           count > 1 ? " …" : ""),
               "msprof collect -v names them all; put what the application needs into the project");
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
          "name the file that the application gives to svp_acl_init", Exit::nothing_to_do);
    } else if (done.empty()) {
      list_.ok("acl.json",
               "none: msprof collect makes a default one beside the executable and in "
               "../src; the application must hand its path to svp_acl_init");
    }
  }

  void check_acl(const std::string& name, const fs::path& file) {
    std::string output;
    try {
      output = check_acl_json(list_, name, read_text_file(file, kMostAclBytes));
    } catch (const Error& error) {
      if (error.code() == Exit::interrupted) throw;
      return list_.fail(name, error.what(), "name the file with --acl-json", Exit::nothing_to_do);
    }
    if (output.empty()) return;
    if (fs::path(output).is_relative()) {
      list_.ok(fmt::format("{}: output", name),
               fmt::format("{}, in the folder that the application starts in", output));
    } else if (question_.on_board) {
      facts_.outputs.emplace_back(name, output);
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
                 fmt::format("{} ({}{}): whether it can be profiled cannot be seen from the file",
                             counted(others, "model"), first, others > 1 ? " …" : ""),
                 "convert with atc … --online_model_type=2; without it a run records no layers");
    }
    if (ours > 0) {
      list_.ok("models", fmt::format("{} of msprof's own runtime: nothing to convert",
                                     counted(ours, "model")));
    }
  }

  CheckList& list_;
  const ProjectQuestion& question_;
  fs::path current_;
  Project project_;
  ProjectFacts facts_;
};

}  // namespace

ProjectFacts check_project(CheckList& list, const ProjectQuestion& question) {
  list.begin("project");
  return ProjectChecks(list, question).check();
}

}  // namespace msprof
