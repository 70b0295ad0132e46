#include "msprof/cann_collection.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "collect/cann/dynamic_session.hpp"
#include "collect/local_host.hpp"
#include "msprof/collection.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

std::vector<pid_t> parse_processes(const CannRequest& request) {
  std::vector<pid_t> processes;
  const std::string list = request.settings.value("pid");
  for (const std::string_view word : split(list, ',')) {
    const auto number = parse_i64(word);
    const auto process = static_cast<pid_t>(number && *number <= INT32_MAX ? *number : 0);
    check_process(process);
    if (std::find(processes.begin(), processes.end(), process) == processes.end())
      processes.push_back(process);
  }
  return processes;
}

// Decides who controls the running applications: the vendor's msprof, unless they use the host
// runtime.
RuntimeChoice choose_for(const std::vector<pid_t>& processes, const CannRequest& request) {
  RuntimeChoice host = {CannRuntime::host, {}, "the applications use the host runtime"};
  if (request.runtime == "host" ||
      (!request.runtime && std::all_of(processes.begin(), processes.end(), has_host_runtime)))
    return host;
  try {
    RuntimeChoice choice = choose_runtime(request.runtime, read_surroundings());
    // The choice for a new application does not apply to running processes, which show which
    // runtime they use.
    if (choice.runtime == CannRuntime::vendor || request.runtime) return choice;
  } catch (const Error&) {
    if (request.runtime) throw;
  }
  return host;
}

Exit collect_cann_attached(const CannRequest& request, const CollectOptions& options,
                           const CollectionPlan& plan, nlohmann::ordered_json& document) {
  request.settings.check();
  if (!request.main.empty() || !request.arguments.empty())
    throw Error(Exit::usage,
                "--pid attaches to running processes: remove the application to start");
  if (options.limits.timeout_seconds || !options.environment.empty() ||
      request.settings.is_given("environment"))
    throw Error(Exit::usage,
                "--timeout, --env and --environment apply to an application that msprof starts: "
                "they cannot be used with --pid");
  if (request.framework || request.profiling_options)
    throw Error(Exit::usage,
                "--framework and --profiling-options apply to an application that msprof starts: "
                "they cannot be used with --pid");
  const std::vector<pid_t> processes = parse_processes(request);
  CannRun run;
  run.settings = request.settings;
  run.choice = choose_for(processes, request);
  check_run(run);
  log::verbose("{}", run.choice.sentence);
  if (run.choice.runtime == CannRuntime::vendor) {
    run.application.program = run.choice.place;
    return collect_cann_here(run, options, plan, document);
  }
  document["host"] = "this machine";
  document["runtime"] = valid_utf8(run.choice.sentence);
  const DynamicRequest session = {processes, request.settings, options.output};
  CollectResult result;
  try {
    run_dynamic_session(session, result);
  } catch (const Error& error) {
    record_failure(result, plan, error, document);
    throw;
  }
  return finish_collection(result, plan, document);
}

}  // namespace

Exit collect_cann(const CannRequest& request, const CollectOptions& options,
                  const CollectionPlan& plan, nlohmann::ordered_json& document) {
  if (request.settings.is_given("pid"))
    return collect_cann_attached(request, options, plan, document);
  return collect_cann_here(plan_cann_run(request), options, plan, document);
}

CannRun plan_cann_run(const CannRequest& request) {
  request.settings.check();
  const RuntimeSurroundings surroundings = read_surroundings();
  CannRun run;
  if (request.framework) run.framework = parse_framework(*request.framework);
  run.profiling_options = request.profiling_options;
  run.application =
      find_application(request.main, request.arguments, fs::current_path(), surroundings.path);
  run.settings = request.settings;
  run.choice = choose_runtime(request.runtime, surroundings, !records_by_itself(run.framework));
  check_run(run);
  log::info("{}", run.choice.sentence);
  return run;
}

Exit collect_cann_here(const CannRun& run, CollectOptions options, const CollectionPlan& plan,
                       nlohmann::ordered_json& document) {
  CannInjection injection(run);
  options.injection = &injection;
  options.main = run.application.program.string();
  options.arguments = run.application.arguments;
  options.existing_folder = fs::current_path().string();
  // The vendor's msprof reads the typed commands itself.
  std::optional<DynamicCompanion> companion;
  if (run.settings.is_given("dynamic") && run.choice.runtime == CannRuntime::host)
    options.companion = &companion.emplace(run.settings);
  // Nothing is copied, so no folder for copies is needed.
  LocalHost host({});
  document["host"] = host.name();
  document["runtime"] = valid_utf8(run.choice.sentence);
  return run_collection(host, options, plan, document);
}

}  // namespace msprof
