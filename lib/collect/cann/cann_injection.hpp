// CannInjection: passes the settings to a CANN application through its environment, or through the
// vendor's collector. Used by the verbs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collect/cann/application.hpp"
#include "collect/cann/collector_options.hpp"
#include "collect/cann/framework.hpp"
#include "collect/cann/runtime_choice.hpp"
#include "collect/injection.hpp"

namespace msprof {

struct CannRun {
  Application application;
  CollectorSettings settings;
  RuntimeChoice choice;
  Framework framework = Framework::none;
  std::optional<std::string> profiling_options;  // value of --profiling-options
  // The program with links resolved, if it is on another machine; empty: this machine.
  std::filesystem::path real_program;
};

// Throws Error(usage) if the chosen runtime does not support an option, or if the framework is
// recorded through its own options.
void check_run(const CannRun& run);

// Returns a label for a PROF folder: "rank 3, process 1234 of python3".
std::string process_label(const std::filesystem::path& capture);

class CannInjection : public Injection {
 public:
  explicit CannInjection(CannRun run) : run_(std::move(run)) {}

  std::string_view capture_name() const override { return "PROF"; }
  std::vector<ExtraFile> plan_files(const Project&, const RunPaths&) override { return {}; }
  void apply(const RunPaths& paths, RunCommand& command) override;
  std::string capture_label(const std::filesystem::path& capture) const override {
    return process_label(capture);
  }
  std::vector<std::string> likely_causes(const RunInfo& info) const override;

 private:
  std::filesystem::path real_program() const;
  void apply_vendor(const RunPaths& paths, RunCommand& command) const;
  void apply_environment(const RunPaths& paths, RunCommand& command) const;
  void apply_host_runtime(RunCommand& command) const;

  CannRun run_;
};

}  // namespace msprof
