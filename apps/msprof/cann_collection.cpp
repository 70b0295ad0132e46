#include "msprof/cann_collection.hpp"

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "base/text.hpp"
#include "collect/local_host.hpp"
#include "msprof/collection.hpp"

namespace msprof {

namespace fs = std::filesystem;

CannRun plan_cann_run(const CannRequest& request) {
  request.settings.check();
  const RuntimeSurroundings surroundings = surroundings_of_process();
  CannRun run;
  run.application =
      find_application(request.main, request.arguments, fs::current_path(), surroundings.path);
  run.settings = request.settings;
  run.choice = choose_runtime(request.runtime, surroundings);
  check_for_runtime(run.settings, run.choice);
  log::info("{}", run.choice.sentence);
  return run;
}

Exit collect_cann_here(const CannRun& run, CollectOptions options, const ProcessCapture& process,
                       nlohmann::ordered_json& document) {
  CannInjection injection(run);
  options.injection = &injection;
  options.main = run.application.program.string();
  options.arguments = run.application.arguments;
  options.existing_folder = fs::current_path().string();
  // Nothing is copied, so that no folder for copies is needed.
  LocalHost host({});
  document["host"] = host.name();
  document["runtime"] = valid_utf8(run.choice.sentence);
  return run_collection(host, options, process, document);
}

}  // namespace msprof
