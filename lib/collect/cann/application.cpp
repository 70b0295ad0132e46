#include "collect/cann/application.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <string_view>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/text.hpp"
#include "collect/elf_file.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxScriptBytes = 4 << 20;
constexpr std::size_t kMaxLibraries = 500;
constexpr std::string_view kOrigin = "$ORIGIN";

// Python modules that load libascendcl.
constexpr std::array<std::string_view, 6> kCannModules = {
    "acl", "torch_npu", "mindspore", "npu_bridge", "npu_device", "mstx",
};

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_executable(const fs::path& path) {
  return is_file(path) && ::access(path.c_str(), X_OK) == 0;
}

fs::path find_on_path(const std::string& name, const std::string& path) {
  for (const std::string_view folder : split(path, ':')) {
    const fs::path file = fs::path(folder) / name;
    if (!folder.empty() && is_executable(file)) return fs::absolute(file);
  }
  return {};
}

[[noreturn]] void cannot_run(const std::string& word, const std::string& why) {
  throw Error(Exit::nothing_to_do, fmt::format("cannot run '{}': {}", printable(word), why));
}

// Returns the Python identifier that follows `begin`: "acl" in "import acl as a".
std::string_view word_behind(std::string_view line, std::string_view begin) {
  if (!line.starts_with(begin)) return {};
  line = trim(line.substr(begin.size()));
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  const auto end = std::find_if_not(line.begin(), line.end(), is_part);
  return line.substr(0, static_cast<std::size_t>(end - line.begin()));
}

bool imports_cann(const fs::path& script) {
  std::error_code error;
  if (!is_file(script) || fs::file_size(script, error) > kMaxScriptBytes) return false;
  const std::string text = read_text_file(script, kMaxScriptBytes);
  for (const std::string_view line : split(text, '\n')) {
    for (const std::string_view begin : {"import ", "from "}) {
      const std::string_view module = word_behind(trim(line), begin);
      if (std::find(kCannModules.begin(), kCannModules.end(), module) != kCannModules.end())
        return true;
    }
  }
  return false;
}

bool is_python(const fs::path& program) {
  return program.filename().string().starts_with("python");
}

// Returns the interpreter line, such as "#!/usr/bin/env python3"; empty if the file is not a
// script.
std::string first_line(const fs::path& file) {
  std::string line = read_head(file, 256);
  line = line.substr(0, line.find('\n'));
  return line.starts_with("#!") ? line : "";
}

// Returns the script in the arguments of Python: "main.py" for "-u main.py", package/__main__.py
// for "-m package".
fs::path find_script(const std::vector<std::string>& arguments, const fs::path& current) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "-m" && i + 1 < arguments.size()) {
      std::string name = arguments[i + 1];
      std::replace(name.begin(), name.end(), '.', '/');
      const fs::path module = current / (name + ".py");
      return is_file(module) ? module : current / name / "__main__.py";
    }
    if (arguments[i] == "-W" || arguments[i] == "-X")
      ++i;
    else if (!arguments[i].starts_with('-'))
      return current / arguments[i];
  }
  return {};
}

// Searches the libraries of a program recursively until one shows which interface it uses.
class LibrarySearch {
 public:
  explicit LibrarySearch(const std::string& library_path) {
    for (const std::string_view folder : split(library_path, ':')) {
      if (!folder.empty()) folders_.emplace_back(folder);
    }
  }

  ApplicationKind detect_kind(const fs::path& file) {
    const ElfFile elf = read_elf(file);
    if (!elf.is_elf || !elf.unseen.empty()) return ApplicationKind::unknown;
    if (elf.takes("aclInit") || elf.takes("aclprofInit")) return ApplicationKind::cann;
    if (elf.takes("svp_acl_init")) return ApplicationKind::svp;
    for (const std::string& name : elf.needed) {
      if (name.starts_with("libascendcl.so") || name.starts_with("libms_tools_ext.so"))
        return ApplicationKind::cann;
      if (name.starts_with("libsvp_acl.so")) return ApplicationKind::svp;
    }
    for (const std::string& name : elf.needed) {
      if (!seen_.insert(name).second || seen_.size() > kMaxLibraries) continue;
      const fs::path library = find(name, elf, file.parent_path());
      const ApplicationKind kind =
          library.empty() ? ApplicationKind::unknown : detect_kind(library);
      if (kind != ApplicationKind::unknown) return kind;
    }
    return ApplicationKind::unknown;
  }

 private:
  // Does not search system libraries: they do not use an NPU.
  fs::path find(const std::string& name, const ElfFile& of, const fs::path& origin) const {
    std::vector<fs::path> folders = folders_;
    for (const std::string& path : of.run_paths) {
      folders.push_back(path.starts_with(kOrigin)
                            ? fs::path(origin.string() + path.substr(kOrigin.size()))
                            : fs::path(path));
    }
    for (const fs::path& folder : folders) {
      if (is_file(folder / name)) return folder / name;
    }
    return {};
  }

  std::vector<fs::path> folders_;
  std::set<std::string> seen_;
};

}  // namespace

Application find_application(const std::string& word, const std::vector<std::string>& arguments,
                             const fs::path& current, const std::string& path) {
  const bool has_folder = word.find('/') != std::string::npos;
  const fs::path here = fs::absolute(current / word).lexically_normal();
  if (is_executable(here)) return {here, arguments};
  if (is_file(here) && here.extension() == ".py") {
    const fs::path python = find_on_path("python3", path);
    if (python.empty()) cannot_run(word, "no python3 on PATH to run it");
    Application script{python, {word}};
    script.arguments.insert(script.arguments.end(), arguments.begin(), arguments.end());
    return script;
  }
  if (!has_folder) {
    const fs::path found = find_on_path(word, path);
    if (!found.empty()) return {found, arguments};
  }
  if (is_file(here)) cannot_run(word, here.string() + " is not executable; run chmod +x");
  cannot_run(word, has_folder ? "no such file"
                              : "no such file in the current folder, and no such program on PATH");
}

ApplicationKind detect_kind(const Application& application, const fs::path& current,
                            const std::string& library_path) {
  const fs::path& program = application.program;
  if (is_python(program) && imports_cann(find_script(application.arguments, current)))
    return ApplicationKind::cann;
  if (first_line(program).find("python") != std::string::npos)
    return imports_cann(program) ? ApplicationKind::cann : ApplicationKind::unknown;
  return LibrarySearch(library_path).detect_kind(program);
}

bool is_for_cann(const ProjectTarget& target, const std::vector<std::string>& arguments,
                 bool on_board) {
  const fs::path main = target.root / target.main;
  std::string libraries =
      (main.parent_path() / "lib").string() + ':' + (target.root / "lib").string();
  const char* const variable = std::getenv("LD_LIBRARY_PATH");
  if (!on_board && variable != nullptr) libraries += std::string(":") + variable;
  return detect_kind({main, arguments}, target.root / target.working_folder, libraries) ==
         ApplicationKind::cann;
}

}  // namespace msprof
