// SvpInjection: passes the settings to applications of SVP boards through acl.json files. Used by
// the verb.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collect/acl_json.hpp"
#include "collect/injection.hpp"

namespace msprof {

class SvpInjection : public Injection {
 public:
  // `acl_json`: value of --acl-json; see plan_acl_json(). `is_by_hand`: the user stated that the
  // application is for a board; otherwise plan_files() throws Error(usage) for a CANN application.
  SvpInjection(ProfilerOptions options, std::optional<std::string> acl_json, bool is_by_hand)
      : options_(std::move(options)), acl_json_(std::move(acl_json)), is_by_hand_(is_by_hand) {}

  std::string_view capture_name() const override { return "JOB"; }
  std::vector<ExtraFile> plan_files(const Project& project, const RunPaths& paths) override;
  void apply(const RunPaths& paths, RunCommand& command) override;
  std::string capture_label(const std::filesystem::path&) const override { return ""; }
  std::vector<std::string> likely_causes(const RunInfo& info) const override;

 private:
  void add_no_capture(const RunInfo& info, std::vector<std::string>& causes) const;
  std::string own_profiling_note(const std::filesystem::path& main) const;
  void add_no_data(std::vector<std::string>& causes) const;

  ProfilerOptions options_;
  std::optional<std::string> acl_json_;
  bool is_by_hand_;
  bool is_for_cann_ = false;
  std::string own_profiling_;
  AclPlan plan_;
};

}  // namespace msprof
