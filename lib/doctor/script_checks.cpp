#include "doctor/script_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/file_reader.hpp"
#include "base/interrupt.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "collect/cann/profiling_options.hpp"
#include "collect/file_tree.hpp"
#include "collect/project.hpp"
#include "doctor/script_facts.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds kMaxScriptTime{20};
constexpr int kNoProgram = 127;

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

bool has_adapter(std::string_view text) {
  return std::any_of(kAdapters.begin(), kAdapters.end(), [&](std::string_view adapter) {
    return text.find(adapter) != std::string_view::npos;
  });
}

// One line of the output of script_facts.py.
struct ScriptFact {
  std::size_t line = 0;
  std::string kind;
  std::string name;
  nlohmann::json value;
  nlohmann::json places;
};

class ScriptChecks {
 public:
  ScriptChecks(CheckList& list, const std::string& name, std::string_view text,
               const fs::path& folder)
      : list_(list), name_(name), text_(text), folder_(folder) {}

  void check(const nlohmann::json& facts) {
    const std::size_t before = list_.checks().size();
    for (const nlohmann::json& each : facts) {
      if (list_.checks().size() - before >= kMaxFindings) {
        return list_.skip(
            name_, fmt::format("the rest of the script is not checked: it already has {} findings",
                               kMaxFindings));
      }
      const ScriptFact fact{each.at(0), each.at(2), each.at(3), each.at(4), each.at(5)};
      const bool is_options = fact.name == kOptions || fact.name == kGraphOptions;
      if (fact.kind != "call") {
        is_options ? check_options(fact) : check_switch(fact);
      } else if (fact.name == "NPURunConfig") {
        list_.ok(of(fact.line, fact.name),
                 "no profiling_config: PROFILING_MODE and PROFILING_OPTIONS apply");
      } else if (fact.name == "acl.init") {
        check_acl_json(fact);
      } else {
        check_profiler(fact);
      }
    }
    report_switches();
  }

 private:
  std::string of(std::size_t line, std::string_view what) const {
    return fmt::format("{}:{}: {}", name_, line, what);
  }

  void check_options(const ScriptFact& fact) {
    if (fact.value.is_null() || fact.value == "") return;
    has_options_ = true;
    if (!fact.value.is_string()) {
      return list_.skip(
          of(fact.line, kOptions), "its value is built when the script runs",
          "msprof collect --framework tf --profiling-options checks the options before the start");
    }
    // The value is often a variable that was already checked at its assignment.
    if (!checked_.insert(fact.places.at(0)).second) return;
    const auto& text = fact.value.get_ref<const std::string&>();
    const ProfilingOptionsCheck check = check_profiling_options(text);
    output_ = check.output;
    std::string evidence;
    for (const Problem& each : check.problems.empty() ? check.notes : check.problems)
      evidence += (evidence.empty() ? "" : "; ") + sentence(each, text, fact.places);
    if (!check.problems.empty())
      return list_.fail(of(fact.line, kOptions), evidence, kMend, Exit::application_failed);
    list_.ok(of(fact.line, kOptions),
             fmt::format("{}{}{}", check.effective, evidence.empty() ? "" : "; ", evidence));
  }

  // Adds the position in the script, if the problem has one.
  std::string sentence(const Problem& problem, std::string_view text,
                       const nlohmann::json& places) const {
    if (!problem.at) return problem.what;
    const std::string_view before = text.substr(0, *problem.at);
    const auto character = static_cast<std::size_t>(
        std::count_if(before.begin(), before.end(), [](char c) { return (c & 0xC0) != 0x80; }));
    const bool is_after = character >= places.size();
    const nlohmann::json& place = is_after ? places.back() : places[character];
    return fmt::format("{}:{}:{}: {}", name_, place.at(0).get<std::size_t>(),
                       place.at(1).get<std::size_t>() + (is_after ? 1 : 0), problem.what);
  }

  void check_switch(const ScriptFact& fact) {
    const bool is_graph = fact.name == kGraphMode;
    if (fact.value == true || (is_graph && fact.value == "1")) {
      switches_.emplace_back(fact.line, fact.name);
    } else if (fact.value == false || (is_graph && fact.value == "0")) {
      list_.ok(of(fact.line, fact.name), "switched off in the script");
    }
  }

  void report_switches() {
    for (const auto& [line, word] : switches_) {
      list_.warn(
          of(line, word),
          "the script enables profiling: its settings override PROFILING_MODE and "
          "PROFILING_OPTIONS",
          fmt::format(
              "remove them for msprof collect --framework tf; otherwise the results are in {}",
              output_.empty() ? has_options_ ? "the output folder set by the script"
                                             : "the working folder of the task"
                              : output_));
    }
    if (!switches_.empty() && !has_options_) {
      list_.ok(of(switches_.front().first, kOptions),
               fmt::format("not set: the documented defaults, {}", default_profiling_options()));
    }
  }

  // Checks acl.init("acl.json"), whose "profiler" takes precedence over the environment.
  void check_acl_json(const ScriptFact& fact) {
    if (!fact.value.is_string() || fact.value == "") return;
    const auto& path = fact.value.get_ref<const std::string&>();
    try {
      const auto document =
          nlohmann::json::parse(read_text_file(folder_ / path, kMaxConfigBytes), nullptr, false);
      if (!document.is_object() || !document.contains("profiler")) return;
      const auto& profiler = document["profiler"];
      if (!profiler.is_object() || profiler.value("switch", nlohmann::json()) != "on") return;
    } catch (const Error& error) {
      if (error.code() == Exit::interrupted) throw;
      return;  // the file is in another folder, or created by the script
    }
    list_.warn(
        of(fact.line, fact.name),
        fmt::format("\"profiler\" in {} is on and overrides PROFILING_MODE and PROFILING_OPTIONS",
                    path),
        "set its \"switch\" to \"off\", or remove \"profiler\"");
  }

  // profiler.Profiler(…) of the TensorFlow adapters.
  void check_profiler(const ScriptFact& fact) {
    if (!has_adapter(text_)) return;
    list_.warn(of(fact.line, fact.name),
               "the script profiles itself, which conflicts with PROFILING_MODE=true",
               "remove the call for msprof collect --framework tf");
  }

  CheckList& list_;
  const std::string& name_;
  std::string_view text_;
  const fs::path& folder_;
  std::set<nlohmann::json> checked_;  // places of the first characters of checked texts
  std::vector<std::pair<std::size_t, std::string>> switches_;  // line and word
  bool has_options_ = false;
  std::string output_;  // output folder in the options text that was checked last
};

bool is_worth_reading(std::string_view text) {
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  if (std::any_of(kWords.begin(), kWords.end(), has) || has("acl.init")) return true;
  return has("profiler.Profiler") && has_adapter(text);
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

bool check_script(CheckList& list, const std::string& name, const fs::path& path) {
  const std::string text = read_text_file(path, kMaxScriptBytes);
  if (!is_worth_reading(text)) return true;
  // Isolated from the environment and from the modules beside the script.
  const ToolAnswer answer = run_tool(
      {"python3", "-I", "-S", "-W", "ignore", "-c", std::string(kScriptFacts), path.string()},
      kMaxScriptTime);
  if (answer.end.exit_code == kNoProgram) {
    list.skip(
        name,
        "not checked, nor are scripts after it: python3, which parses scripts, cannot be started",
        "install python3; msprof collect --framework tf --profiling-options checks options "
        "without it");
    return false;
  }
  const nlohmann::json facts = nlohmann::json::parse(answer.out, nullptr, false);
  if (!answer.has_succeeded() || !facts.is_array()) {
    list.skip(name, fmt::format("not checked: python3 cannot parse it ({})", answer.reason()));
  } else {
    ScriptChecks(list, name, text, path.parent_path()).check(facts);
  }
  return true;
}

bool check_scripts(CheckList& list, const fs::path& root) {
  const Scripts scripts = find_scripts(root);
  const std::size_t before = list.checks().size();
  for (const fs::path& file : scripts.files) {
    interrupt::check();
    try {
      if (!check_script(list, file.string(), root / file)) break;
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
