#include "collect/svp_injection.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"

namespace msprof {

std::string SvpInjection::own_profiling_note(const std::filesystem::path& main) const {
  return fmt::format(
      "{} calls {}: it profiles itself, which conflicts with profiling through acl.json; use "
      "--switch off",
      main.string(), own_profiling_);
}

std::vector<ExtraFile> SvpInjection::plan_files(const Project& project, const RunPaths& paths) {
  is_for_cann_ = project.is_for_cann;
  if (is_for_cann_ && !is_by_hand_) {
    throw Error(
        Exit::usage,
        fmt::format("{} loads libascendcl, so it is an application on CANN and would fail with the "
                    "acl.json of SVP boards. Add --cann (on a board or server with --upload for a "
                    "copy; without --project), or --dialect svp to run it for an SVP board anyway",
                    project.target.main.string()));
  }
  own_profiling_ = options_.on.value_or(true) ? project.own_profiling : "";
  if (!own_profiling_.empty()) log::info("note: {}", own_profiling_note(project.target.main));
  plan_ = plan_acl_json(project, acl_json_, options_, paths.output);
  return plan_.files;
}

void SvpInjection::apply(const RunPaths&, RunCommand& command) {
  command.acl_json = plan_.chosen;
}

void SvpInjection::add_no_capture(const RunInfo& info, std::vector<std::string>& causes) const {
  if (plan_.own) {
    causes.push_back(
        fmt::format("{} does not call svp_acl_init, or calls it without the path of an acl.json "
                    "(give it with --acl-json FILE if it has another name or folder)",
                    info.main));
  } else {
    causes.push_back(
        fmt::format("{} does not call svp_acl_init with the path of an acl.json; the project has "
                    "no acl.json, so a default one was created next to {} and in ../src (give "
                    "yours with --acl-json FILE if it has another name or folder)",
                    info.main, info.main));
  }
  if (!info.is_on_board) {
    causes.push_back(
        fmt::format("{} is not linked to a libsvp_acl.so that can profile", info.main));
  } else {
    causes.push_back("AI-ISP is on: the board then creates no JOB folder");
  }
}

void SvpInjection::add_no_data(std::vector<std::string>& causes) const {
  causes.push_back(
      "the model was converted without --online_model_type=2 (ATC), so it has no data to profile");
  causes.push_back("models were loaded and unloaded, but not executed");
  const bool items_off = !options_.acl_api.value_or(true) && !options_.aicpu.value_or(true);
  if (items_off) causes.push_back("with --acl_api off and --aacpu off there is little to record");
}

std::vector<std::string> SvpInjection::likely_causes(const RunInfo& info) const {
  std::vector<std::string> causes;
  if (is_for_cann_) {
    causes.push_back(
        fmt::format("{} loads libascendcl: it is an application on CANN, which cannot use the "
                    "acl.json of SVP boards (use --cann instead of --dialect svp)",
                    info.main));
  }
  if (!own_profiling_.empty()) causes.push_back(own_profiling_note(info.main));
  if (!options_.on.value_or(true)) return {"profiling was switched off with --switch off"};
  // 127: exit code of the dynamic loader and of a shell.
  if (info.outcome.end.exit_code == 127) {
    causes.push_back(
        "a shared library was not found: put libraries next to the executable (RUNPATH), into lib/ "
        "of the project or on LD_LIBRARY_PATH");
  }
  if (!info.outcome.has_succeeded() || info.outcome.has_timed_out) {
    causes.push_back(
        fmt::format("{} ended before {}", info.main,
                    info.has_capture ? "a model was executed" : "svp_acl_init or the first model"));
  }
  if (info.is_output_full) causes.push_back("the disk of the run is full");
  if (plan_.is_dump_on) {
    causes.push_back(
        "acl.json also enables dump, which cannot be combined with profiling: switch it off");
  }
  if (info.has_capture) {
    add_no_data(causes);
  } else {
    add_no_capture(info, causes);
    causes.push_back(
        "no model was loaded and executed (a model without --online_model_type=2 has no data to "
        "profile)");
  }
  return causes;
}

}  // namespace msprof
