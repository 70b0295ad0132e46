// SvpInjection: acl.json files carry the settings into applications of SVP boards. For the verb.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collect/acl_json.hpp"
#include "collect/injection.hpp"

namespace msprof {

class SvpInjection : public Injection {
 public:
  // `acl_json`: --acl-json; see plan_acl_json().
  SvpInjection(ProfilerOptions options, std::optional<std::string> acl_json)
      : options_(std::move(options)), acl_json_(std::move(acl_json)) {}

  std::string_view capture_name() const override { return "JOB"; }
  std::vector<ExtraFile> plan_files(const Project& project, const RunPaths& paths) override;
  void apply(const RunPaths& paths, RunCommand& command) override;
  std::string label_of(const std::filesystem::path&) const override { return ""; }
  std::vector<std::string> likely_causes(const RunInfo& info) const override;

 private:
  void add_no_capture(const RunInfo& info, std::vector<std::string>& causes) const;
  void add_no_data(std::vector<std::string>& causes) const;

  ProfilerOptions options_;
  std::optional<std::string> acl_json_;
  AclPlan plan_;
};

}  // namespace msprof
