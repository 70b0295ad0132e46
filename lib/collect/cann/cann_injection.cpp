#include "collect/cann/cann_injection.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "collect/cann/collector_values.hpp"
#include "collect/cann/profiling_options.hpp"
#include "collect/cann/rank.hpp"
#include "collect/cann/sample_config.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxInfoBytes = 1 << 20;

// Start of the line that the vendor's tool prints last, and which callers parse
// (docs/collect_cann.md).
constexpr std::string_view kClosingLine =
    "[INFO] Process profiling data complete. Data is saved in ";

// Programs that start the ranks of a run; they have no rank number themselves.
constexpr std::array<std::string_view, 8> kLaunchers = {
    "torchrun", "mpirun", "mpiexec", "srun", "deepspeed", "accelerate", "msrun", "horovodrun",
};

constexpr std::string_view kMetricsOfOtherChips = "PipelineExecuteUtilization";

// Same rule as in the host runtime (docs/host_cann.md).
bool records_as_910b() {
  const char* const chip = std::getenv("MSPROF_HOST_CHIP");
  return chip == nullptr || *chip == '\0' || std::string_view(chip) == "5";
}

bool is_launcher(const Application& application) {
  const std::string name = application.program.filename().string();
  const auto& words = application.arguments;
  return std::find(kLaunchers.begin(), kLaunchers.end(), name) != kLaunchers.end() ||
         std::any_of(words.begin(), words.end(), [](const std::string& word) {
           return word.starts_with("torch.distributed.");
         });
}

void set(RunCommand& command, const std::string& name, const std::string& value) {
  command.environment.push_back(name + "=" + value);
}

// If the options enable nothing, returns those that disable the defaults: "--ascendcl=off and
// --task-time=off"; otherwise empty.
std::string everything_off(const CollectorSettings& settings) {
  std::vector<std::string> off;
  for (const CollectorOption& option : collector_options()) {
    const bool is_switch = option.values.find("off") != std::string_view::npos;
    // Core counters are part of the task data unless they are requested explicitly.
    const bool is_core = option.name == "ai-core" || option.name == "ai-vector-core";
    if (!is_switch || (is_core && !settings.is_given(option.name))) continue;
    if (settings.value(option.name) != "off") return "";
    if (settings.is_given(option.name)) off.push_back(fmt::format("--{}=off", option.name));
  }
  return listed(off);
}

std::string seconds_or_dynamic(const CollectorSettings& settings) {
  if (settings.is_given("dynamic")) return "dynamic";
  return settings.is_given("delay") || settings.is_given("duration") ? "delay_or_duration" : "";
}

// Throws if custom events of a card are requested from the host runtime, which supports only the
// predefined sets.
void check_host_metrics(std::string_view option, std::string_view value) {
  if (!value.starts_with(kCustomMetrics)) return;
  throw Error(Exit::usage,
              fmt::format("{}: {} requires events of a card's cores, which the host runtime does "
                          "not have: run this on a machine with CANN, or use {}",
                          option, printable(value), listed(core_metrics(), "or")));
}

// Checks options against the framework: one that records by itself accepts neither the vendor's
// collector nor options that select data.
void check_for_framework(const CannRun& run) {
  plan_framework(run.framework, run.profiling_options, "/");
  if (run.choice.runtime == CannRuntime::host && run.profiling_options)
    check_host_metrics("--profiling-options, aic_metrics",
                       check_profiling_options(*run.profiling_options).metrics);
  if (!records_by_itself(run.framework)) return;
  if (run.choice.runtime == CannRuntime::vendor)
    throw Error(Exit::usage,
                "this framework is recorded through its own variables, not by the vendor's "
                "collector: remove --runtime vendor");
  for (const auto& [name, value] : run.settings.given()) {
    const CollectorScope scope = find_collector_option(name)->scope;
    const bool is_about_records =
        scope == CollectorScope::records || scope == CollectorScope::driver || name == "dynamic";
    if (is_about_records)
      throw Error(Exit::usage, fmt::format("--{} does not affect this framework, which is recorded "
                                           "through its own options: remove it{}",
                                           name,
                                           run.framework == Framework::tensorflow
                                               ? ", and use --profiling-options instead"
                                               : ""));
  }
}

void check_for_runtime(const CollectorSettings& settings, const RuntimeChoice& choice) {
  if (choice.runtime == CannRuntime::cann && settings.is_given("dynamic"))
    throw Error(Exit::usage,
                "--dynamic: only the vendor's msprof can control CANN's runtime: put it on PATH, "
                "or use the host runtime with --runtime host");
  if (choice.runtime == CannRuntime::cann) {
    const auto names = options_without_parameter(settings);
    if (names.empty()) return;
    throw Error(Exit::usage,
                fmt::format("{} cannot be passed to CANN's runtime without the vendor's collector: "
                            "put the vendor's msprof on PATH, or remove {}",
                            listed(names), names.size() == 1 ? "it" : "them"));
  }
  if (choice.runtime != CannRuntime::host) return;
  for (const char* const metrics : {"aic-metrics", "aiv-metrics"})
    check_host_metrics(fmt::format("--{}", metrics), settings.value(metrics));
  if (const std::string loads = loads_without_proc(settings); !loads.empty())
    throw Error(
        Exit::usage,
        fmt::format(
            "--host-sys={}: the host runtime records only cpu and mem, from /proc: remove {}",
            settings.value("host-sys"), loads));
  if (settings.value("aic-metrics") == kMetricsOfOtherChips && records_as_910b())
    throw Error(Exit::usage,
                fmt::format("--aic-metrics={}: the host runtime records as a 910B, which does not "
                            "have these metrics: choose others, or set MSPROF_HOST_CHIP=4",
                            kMetricsOfOtherChips));
  const auto names = options_for_driver(settings);
  if (names.empty()) return;
  throw Error(Exit::usage, fmt::format("{} {} the driver of a card, which the host runtime does "
                                       "not have: run this on a machine with CANN, or remove {}",
                                       listed(names), names.size() == 1 ? "needs" : "need",
                                       names.size() == 1 ? "it" : "them"));
}

}  // namespace

void check_run(const CannRun& run) {
  check_for_runtime(run.settings, run.choice);
  check_for_framework(run);
}

void CannInjection::apply(const RunPaths& paths, RunCommand& command) {
  if (!is_plain_path(paths.output))
    throw Error(Exit::usage, fmt::format("CANN's runtime does not accept quotes or \\ % > < | & $ "
                                         "; ` in {}: choose another folder with --output",
                                         printable(paths.output)));
  for (std::string& entry : environment_list(run_.settings.value("environment")))
    command.environment.push_back(std::move(entry));
  const FrameworkPlan plan = plan_framework(run_.framework, run_.profiling_options, paths.output);
  for (const std::string& sentence : plan.sentences) log::info("{}", sentence);
  command.environment.insert(command.environment.end(), plan.environment.begin(),
                             plan.environment.end());
  const auto rank = is_launcher(run_.application) ? std::nullopt : find_rank_variable();
  // Inserted at the front: a value given by the user takes precedence.
  if (rank) command.environment.insert(command.environment.begin(), *rank);
  if (run_.choice.runtime == CannRuntime::vendor) return apply_vendor(paths, command);
  if (!records_by_itself(run_.framework)) apply_environment(paths, command);
  if (run_.choice.runtime == CannRuntime::host) apply_host_runtime(command);
}

// The vendor's tool requires the full path of the application, and does not accept a link to
// Python. The application's arguments come last.
void CannInjection::apply_vendor(const RunPaths& paths, RunCommand& command) const {
  std::vector<std::string> words = {"--output=" + paths.output};
  for (const CollectorOption& option : collector_options()) {
    const bool is_ours = option.scope == CollectorScope::run && option.name != "dynamic" &&
                         option.name != "pid" && option.name != "python-path";
    if (is_ours || !run_.settings.is_given(option.name)) continue;
    words.push_back(fmt::format("--{}={}", option.name, run_.settings.value(option.name)));
  }
  // With --pid the application is already running.
  if (!run_.settings.is_given("pid")) {
    words.push_back(real_program().string());
    words.insert(words.end(), run_.application.arguments.begin(), run_.application.arguments.end());
  }
  // Drops the vendor's line: it names the temporary folder of the data, not the final one.
  command.output_changes.dropped = kClosingLine;
  command.main = run_.choice.place;
  command.arguments = std::move(words);
  set(command, "MSPROF_INNER", "1");
}

fs::path CannInjection::real_program() const {
  if (!run_.real_program.empty()) return run_.real_program;
  std::error_code error;
  const fs::path real = fs::canonical(run_.application.program, error);
  return error ? run_.application.program : real;
}

void CannInjection::apply_environment(const RunPaths& paths, RunCommand& command) const {
  const ApplicationWords words{run_.application.program.string(), run_.application.arguments};
  set(command, "PROFILER_SAMPLECONFIG",
      sample_config(run_.settings, words, paths.output, ::getpid()));
  const std::string mode = seconds_or_dynamic(run_.settings);
  if (!mode.empty()) set(command, "PROFILING_MODE", mode);
}

void CannInjection::apply_host_runtime(RunCommand& command) const {
  const fs::path& folder = run_.choice.place;
  command.libraries = (folder / "lib64").string();
  command.modules = (folder / "python").string();
  // Not with --dynamic: if the application never calls aclInit, the recording could not be started
  // and stopped.
  if (!run_.settings.is_on("msproftx") || run_.settings.is_given("dynamic")) return;
  // Uses the library that also records the interface calls, so that each process writes one folder.
  set(command, "MSTX_INJECTION_PATH", (folder / "lib64" / "libascendcl.so").string());
  const std::pair<const char*, const char*> lists[] = {
      {"MSPROF_MSTX_DOMAIN_INCLUDE", "mstx-domain-include"},
      {"MSPROF_MSTX_DOMAIN_EXCLUDE", "mstx-domain-exclude"},
  };
  for (const auto& [name, option] : lists) {
    if (run_.settings.is_given(option)) set(command, name, run_.settings.value(option));
  }
}

std::string process_label(const fs::path& capture) {
  using Json = nlohmann::json;
  Json info;
  try {
    info =
        Json::parse(read_text_file(capture / "host" / "info.json", kMaxInfoBytes), nullptr, false);
  } catch (const Error&) {
    return "";
  }
  if (!info.is_object()) return "";
  const auto text = [&](const char* key) -> std::string {
    const auto found = info.find(key);
    if (found == info.end()) return "";
    if (found->is_string()) return printable(found->get<std::string>());
    return found->is_number_integer() ? std::to_string(found->get<std::int64_t>()) : "";
  };
  std::string label;
  const std::string rank = text("rank_id");
  if (!rank.empty() && rank != "-1") label = "rank " + rank;
  const std::string pid = text("pid");
  const std::string name = text("pid_name");
  if (pid.empty()) return label;
  label += (label.empty() ? "" : ", ") + fmt::format("process {}", pid);
  return name.empty() ? label : label + " of " + name;
}

std::vector<std::string> CannInjection::likely_causes(const RunInfo& info) const {
  std::vector<std::string> causes;
  if (run_.choice.runtime == CannRuntime::vendor) {
    causes.push_back(fmt::format("{} failed or used another folder: see its output",
                                 printable(run_.choice.place.string())));
  }
  // 127: exit code of the dynamic loader and of a shell.
  if (info.outcome.end.exit_code == 127)
    causes.push_back("a shared library was not found: LD_LIBRARY_PATH must contain its folder");
  if (!info.outcome.has_succeeded() || info.outcome.has_timed_out)
    causes.push_back(fmt::format("{} ended before aclInit", info.main));
  if (run_.settings.is_given("dynamic"))
    causes.push_back(fmt::format("start was not entered while {} ran", info.main));
  if (info.is_output_full) causes.push_back("the disk of the run is full");
  if (run_.settings.is_given("delay"))
    causes.push_back(
        fmt::format("it ended within the {} s of --delay", run_.settings.value("delay")));
  const std::string off = everything_off(run_.settings);
  if (!off.empty()) {
    causes.push_back(fmt::format("{} leave nothing to record", off));
    return causes;
  }
  causes.push_back(
      fmt::format("{} never called aclInit (acl.init), where recording starts", info.main));
  causes.push_back(fmt::format(
      "{} is not linked to libascendcl.so, nor does it load a framework that is", info.main));
  if (!run_.settings.is_on("msproftx"))
    causes.push_back("it only makes stamps or mstx ranges: add --msproftx=on");
  return causes;
}

}  // namespace msprof
