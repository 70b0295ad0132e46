#include "doctor/script_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/file_reader.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "collect/cann/profiling_options.hpp"
#include "collect/file_tree.hpp"
#include "collect/project.hpp"
#include "doctor/python_source.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kOptions = "profiling_options";
constexpr std::string_view kGraphOptions = "ge.exec.profilingOptions";
constexpr std::string_view kGraphMode = "ge.exec.profilingMode";
constexpr std::size_t kMaxEntries = 20'000;  // listed directory entries
constexpr std::size_t kMaxFindings = 100;    // per script
constexpr std::size_t kMaxConfigBytes = 1 << 20;

// A script with none of these words is skipped.
constexpr std::array<std::string_view, 7> kWords = {
    "profiling_options", "profilingOptions", "enable_profiling", "profiling_mode",
    "profilingMode",     "NPURunConfig",     "ProfilingConfig"};
constexpr std::array<std::string_view, 3> kAdapters = {"npu_bridge", "npu_device", "tfplugin"};

constexpr const char* kMend = "correct it; docs/frameworks.md lists the keys and values";

class ScriptChecks {
 public:
  ScriptChecks(CheckList& list, const std::string& name, std::string_view text,
               const fs::path& folder)
      : list_(list), name_(name), text_(text), folder_(folder), source_(text) {}

  void check() {
    const std::size_t before = list_.checks().size();
    for (std::size_t i = 0; i < source_.tokens().size(); ++i) {
      if (list_.checks().size() - before >= kMaxFindings) {
        return list_.skip(
            name_, fmt::format("the rest of the script is not checked: it already has {} findings",
                               kMaxFindings));
      }
      look_for_options(i);
      look_for_switch(i);
      look_for_run_config(i);
      look_for_acl_json(i);
      look_for_profiler(i);
    }
    report_switches();
  }

 private:
  std::size_t at(std::size_t index) const { return source_.tokens()[index].at; }

  std::string of(std::size_t index, std::string_view what) const {
    return fmt::format("{}:{}: {}", name_, source_.line_number(at(index)), what);
  }

  // Returns the token index of the value assigned to the name or key at `index`, as in
  // profiling_options=…, parameter_map["profiling_options"].s = …, {"profiling_options": …}; 0 if
  // there is none.
  std::size_t assigned_to(std::size_t index) const {
    std::size_t next = index + 1;
    const bool is_key = source_.tokens()[index].kind == PythonTokenKind::text;
    if (is_key && source_.is(next, ":")) return next + 1;
    if (is_key && source_.is(next, "]")) {
      for (++next; source_.is(next, "."); next += 2) {
      }
    } else if (is_key) {
      return 0;
    }
    return source_.is(next, "=") ? next + 1 : 0;
  }

  void look_for_options(std::size_t index) {
    const std::size_t value = options_at(index);
    if (value == 0 || source_.is(value, "None") || source_.is_text(value, "")) return;
    // The value is often a variable that was already checked at its assignment.
    const auto text = source_.text_at(value);
    has_options_ = true;
    if (text && !text->origins.empty() && !checked_.insert(text->origins.front()).second) return;
    if (text) return check_options(index, *text);
    list_.skip(
        of(index, kOptions), "its value is built when the script runs",
        "msprof collect --framework tf --profiling-options checks the options before the start");
  }

  // Returns the token index of the expression with options introduced by the word at `index`; 0 if
  // there is none.
  std::size_t options_at(std::size_t index) const {
    if (source_.is(index, kOptions) || source_.is_text(index, kOptions) ||
        source_.is_text(index, kGraphOptions)) {
      return assigned_to(index);
    }
    // ProfilingConfig(True, "…")
    const bool is_second = source_.is(index, "ProfilingConfig") && source_.is(index + 1, "(") &&
                           source_.is(index + 3, ",") && !source_.is(index + 5, "=");
    return is_second && !source_.is(index + 4, ")") ? index + 4 : 0;
  }

  void check_options(std::size_t index, const PythonText& text) {
    const ProfilingOptionsCheck check = check_profiling_options(text.value);
    output_ = check.output;
    std::string evidence;
    const auto& told = check.problems.empty() ? check.notes : check.problems;
    for (const Problem& each : told) {
      evidence += fmt::format("{}{}", evidence.empty() ? "" : "; ", sentence(each, text));
    }
    if (!check.problems.empty()) {
      return list_.fail(of(index, kOptions), evidence, kMend, Exit::application_failed);
    }
    list_.ok(of(index, kOptions),
             fmt::format("{}{}{}", check.effective, evidence.empty() ? "" : "; ", evidence));
  }

  // Adds the position in the script, if the problem has one.
  std::string sentence(const Problem& problem, const PythonText& text) const {
    if (!problem.at || text.origins.empty()) return problem.what;
    const std::size_t byte =
        *problem.at < text.origins.size() ? text.origins[*problem.at] : text.origins.back() + 1;
    return fmt::format("{}:{}: {}", name_, source_.position_text(byte), problem.what);
  }

  void look_for_switch(std::size_t index) {
    const bool is_word = source_.is(index, "enable_profiling") ||
                         source_.is_text(index, "enable_profiling") ||
                         source_.is_text(index, "profiling_mode");
    const bool is_graph = source_.is_text(index, kGraphMode);
    const std::size_t value = is_word || is_graph ? assigned_to(index) : 0;
    // ProfilingConfig(True, …)
    const bool is_first = source_.is(index, "ProfilingConfig") && source_.is(index + 1, "(") &&
                          (source_.is(index + 3, ",") || source_.is(index + 3, ")"));
    if (value == 0 && !is_first) return;
    const std::size_t told = is_first ? index + 2 : value;
    if (source_.is(told, "True") || (is_graph && source_.is_text(told, "1"))) {
      switches_.push_back(index);
    } else if (source_.is(told, "False") || (is_graph && source_.is_text(told, "0"))) {
      list_.ok(of(index, source_.is(index, "ProfilingConfig") ? "ProfilingConfig" : word(index)),
               "switched off in the script");
    }
  }

  std::string word(std::size_t index) const {
    const PythonToken& token = source_.tokens()[index];
    return token.kind == PythonTokenKind::text ? token.value : std::string(token.source);
  }

  void report_switches() {
    for (const std::size_t index : switches_) {
      list_.warn(
          of(index, word(index)),
          "the script enables profiling: its settings override PROFILING_MODE and "
          "PROFILING_OPTIONS",
          fmt::format(
              "remove them for msprof collect --framework tf; otherwise the results are in {}",
              output_.empty() ? has_options_ ? "the output folder set by the script"
                                             : "the working folder of the task"
                              : output_));
    }
    if (!switches_.empty() && !has_options_) {
      list_.ok(of(switches_.front(), kOptions),
               fmt::format("not set: the documented defaults, {}", default_profiling_options()));
    }
  }

  // Finds NPURunConfig(…) without a profiling_config argument.
  void look_for_run_config(std::size_t index) {
    if (!source_.is(index, "NPURunConfig") || !source_.is(index + 1, "(")) return;
    int depth = 0;
    for (std::size_t i = index + 1; i < source_.tokens().size(); ++i) {
      if (source_.is(i, "(")) ++depth;
      if (source_.is(i, ")") && --depth == 0) break;
      if (source_.is(i, "profiling_config") || source_.is(i, "*")) return;
    }
    list_.ok(of(index, "NPURunConfig"),
             "no profiling_config: PROFILING_MODE and PROFILING_OPTIONS apply");
  }

  // Finds acl.init("acl.json"), whose "profiler" takes precedence over the environment.
  void look_for_acl_json(std::size_t index) {
    if (!source_.is(index, "acl") || !source_.is(index + 1, ".") ||
        !source_.is(index + 2, "init") || !source_.is(index + 3, "(")) {
      return;
    }
    const auto path = source_.text_at(index + 4);
    if (!path || path->value.empty()) return;
    try {
      const auto document = nlohmann::json::parse(
          read_text_file(folder_ / path->value, kMaxConfigBytes), nullptr, false);
      if (!document.is_object() || !document.contains("profiler")) return;
      const auto& profiler = document["profiler"];
      if (!profiler.is_object() || profiler.value("switch", nlohmann::json()) != "on") return;
    } catch (const Error& error) {
      if (error.code() == Exit::interrupted) throw;
      return;  // the file is in another folder, or created by the script
    }
    list_.warn(
        of(index, "acl.init"),
        fmt::format("\"profiler\" in {} is on and overrides PROFILING_MODE and PROFILING_OPTIONS",
                    path->value),
        "set its \"switch\" to \"off\", or remove \"profiler\"");
  }

  // Finds profiler.Profiler(…) of the TensorFlow adapters.
  void look_for_profiler(std::size_t index) {
    const bool is_call = source_.is(index, "profiler") && source_.is(index + 1, ".") &&
                         source_.is(index + 2, "Profiler") && source_.is(index + 3, "(");
    if (!is_call) return;
    const bool is_adapted = std::any_of(kAdapters.begin(), kAdapters.end(), [&](auto adapter) {
      return text_.find(adapter) != std::string_view::npos;
    });
    if (!is_adapted) return;
    list_.warn(of(index, "profiler.Profiler"),
               "the script profiles itself, which conflicts with PROFILING_MODE=true",
               "remove the call for msprof collect --framework tf");
  }

  CheckList& list_;
  const std::string& name_;
  std::string_view text_;
  const fs::path& folder_;
  PythonSource source_;
  std::set<std::uint32_t> checked_;  // start offsets of checked texts
  std::vector<std::size_t> switches_;
  bool has_options_ = false;
  std::string output_;  // output folder in the options text that was checked last
};

bool is_worth_reading(std::string_view text) {
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  if (std::any_of(kWords.begin(), kWords.end(), has) || has("acl.init")) return true;
  return has("profiler.Profiler") && std::any_of(kAdapters.begin(), kAdapters.end(), has);
}

// Skips folders with third-party code or without code.
bool is_entered(const fs::path& root, const fs::path& folder) {
  const std::string name = folder.filename().string();
  if (name.starts_with('.') || is_capture_folder_name(name)) return false;
  if (name == "site-packages" || name == "node_modules" || name == "__pycache__") return false;
  std::error_code error;
  return !fs::exists(root / folder / "pyvenv.cfg", error);
}

struct Scripts {
  std::vector<fs::path> files;  // relative paths, sorted by name
  std::size_t left_out = 0;     // number of skipped scripts: too large, or too many
  bool is_cut = false;          // some folders were not entered
};

Scripts find_scripts(const fs::path& root) {
  Scripts found;
  std::size_t entries = 0;
  const auto visit = [&](const fs::path& relative, const struct stat& status) {
    const auto depth = static_cast<std::size_t>(std::distance(relative.begin(), relative.end()));
    if (S_ISDIR(status.st_mode)) {
      if (!is_entered(root, relative)) return false;
      const bool is_too_far = ++entries > kMaxEntries || depth > kMaxScriptFolders;
      found.is_cut = found.is_cut || is_too_far;
      return !is_too_far;
    }
    ++entries;
    if (!S_ISREG(status.st_mode) || relative.extension() != ".py") return false;
    const bool is_small = static_cast<std::size_t>(status.st_size) <= kMaxScriptBytes;
    if (is_small && found.files.size() < kMaxScripts) {
      found.files.push_back(relative);
    } else {
      ++found.left_out;
    }
    return false;
  };
  walk_tree(root, visit, [](const fs::path&, int) {});
  return found;
}

}  // namespace

void check_script(CheckList& list, const std::string& name, std::string_view text,
                  const fs::path& folder) {
  if (is_worth_reading(text)) ScriptChecks(list, name, text, folder).check();
}

bool check_scripts(CheckList& list, const fs::path& root) {
  const Scripts scripts = find_scripts(root);
  const std::size_t before = list.checks().size();
  for (const fs::path& file : scripts.files) {
    interrupt::check();
    try {
      const std::string text = read_text_file(root / file, kMaxScriptBytes);
      check_script(list, file.string(), text, (root / file).parent_path());
    } catch (const Error& error) {
      if (error.code() == Exit::interrupted) throw;
      list.skip(file.string(), error.what());
    }
  }
  const bool found = list.checks().size() > before;
  std::vector<std::string> left;
  if (scripts.left_out > 0) {
    left.push_back(fmt::format("{} (above 1 MiB, or beyond {} files)",
                               counted(scripts.left_out, "script"), with_thousands(kMaxScripts)));
  }
  if (scripts.is_cut && !scripts.files.empty())
    left.emplace_back("folders that are nested too deeply");
  if (!left.empty()) {
    list.skip("scripts", fmt::format("not read: {}", listed(left)),
              "give the folder of the scripts with --project");
  }
  return found;
}

}  // namespace msprof
