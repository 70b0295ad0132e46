#include "msprof/server_collection.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/text.hpp"
#include "msprof/collection.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// A device records up to 60 MB/s, so this is enough for a few minutes of one device.
constexpr std::uint64_t kSmallDiskBytes = 20'000'000'000;

Framework requested_framework(const CannRequest& request) {
  return request.framework ? parse_framework(*request.framework) : Framework::none;
}

// Settings of a run whose application and runtime become known only after probing the server.
class ServerInjection : public Injection {
 public:
  ServerInjection(SshHost& host, const CannRequest& request, const BoardArguments& arguments)
      : host_(host),
        request_(request),
        is_in_place_(!arguments.upload),
        disk_option_(arguments.run.leave.folder.empty() ? "--board-dir" : "--remote-output") {}

  std::string_view capture_name() const override { return "PROF"; }

  std::vector<ExtraFile> plan_files(const Project& project, const RunPaths& paths) override {
    CannRun run;
    run.settings = request_.settings;
    run.framework = requested_framework(request_);
    run.profiling_options = request_.profiling_options;
    run.application = {(fs::path(paths.project) / project.target.main).lexically_normal(),
                       request_.arguments};
    run.real_program = run.application.program;
    if (is_in_place_) {
      const ServerApplication& found = host_.application();
      run.real_program = found.real_program;
      run.application.arguments.insert(run.application.arguments.begin(), found.leading.begin(),
                                       found.leading.end());
    }
    ServerRuntimes runtimes = host_.find_runtimes();
    run.choice = choose_runtime(request_.runtime, runtimes, !records_by_itself(run.framework));
    if (run.choice.runtime != CannRuntime::vendor && run.settings.is_given("dynamic"))
      throw Error(Exit::usage,
                  "--dynamic works only on local processes, unless the server has the vendor's "
                  "msprof: log in to the server and run msprof --dynamic there");
    check_run(run);
    log::info("{}", run.choice.sentence);
    sentence_ = run.choice.sentence;
    host_.set_tool(runtimes.tool());
    warn_of_low_disk();
    run_ = std::move(run);
    inner_ = std::make_unique<CannInjection>(*run_);
    return {};
  }

  void apply(const RunPaths& paths, RunCommand& command) override {
    command.arguments = run_->application.arguments;
    // A local application would inherit RANK_ID; a remote one does not.
    if (const char* const rank = std::getenv("RANK_ID"); rank != nullptr && *rank != '\0')
      command.environment.insert(command.environment.begin(), fmt::format("RANK_ID={}", rank));
    inner_->apply(paths, command);
  }

  std::string capture_label(const fs::path& capture) const override {
    return inner_ ? inner_->capture_label(capture) : "";
  }

  std::vector<std::string> likely_causes(const RunInfo& info) const override {
    return inner_ ? inner_->likely_causes(info) : std::vector<std::string>();
  }

  // Describes the runtime that was used; empty while it is unknown.
  const std::string& sentence() const { return sentence_; }

 private:
  void warn_of_low_disk() {
    const auto free = host_.free_bytes();
    if (!free || *free >= kSmallDiskBytes) return;
    log::info(
        "{} has {} free for the raw data, and a device records up to 60 MB/s; to use another disk, "
        "add {} DIR",
        host_.name(), human_bytes(*free), disk_option_);
  }

  SshHost& host_;
  const CannRequest& request_;
  bool is_in_place_;
  const char* disk_option_;
  std::optional<CannRun> run_;
  std::unique_ptr<CannInjection> inner_;
  std::string sentence_;
};

}  // namespace

BoardRunOptions server_options(const BoardRunOptions& options, const BoardArguments& arguments,
                               bool all) {
  BoardRunOptions server = options;
  server.runs_in_login_shell = true;
  server.runs_in_place = !arguments.upload;
  server.leave.export_products = all;
  return server;
}

Exit collect_cann_on_server(SshHost& host, const CannRequest& request,
                            const BoardArguments& arguments, CollectOptions options,
                            const CollectionPlan& plan, nlohmann::ordered_json& document) {
  request.settings.check();
  // Validate the options before connecting to the server.
  plan_framework(requested_framework(request), request.profiling_options, "/");
  ServerInjection injection(host, request, arguments);
  options.injection = &injection;
  if (arguments.upload) {
    options.existing_folder.reset();
  } else {
    options.existing_folder = arguments.remote_dir.value_or("");
  }
  const auto note_runtime = [&] {
    if (!injection.sentence().empty()) document["runtime"] = valid_utf8(injection.sentence());
  };
  try {
    const Exit code = run_collection(host, options, plan, document);
    note_runtime();
    return code;
  } catch (const Error&) {
    note_runtime();
    throw;
  }
}

}  // namespace msprof
