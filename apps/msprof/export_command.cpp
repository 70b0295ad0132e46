// msprof export timeline | export summary: the products of a capture as files.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/log.hpp"
#include "export/products.hpp"
#include "msprof/pipeline.hpp"

namespace msprof {

namespace {

struct ExportArguments {
  CaptureOptions capture;
  std::string format = "csv";
  std::vector<std::string> names;
};

// Exports one capture with `write(store, folder)` into its sub-folder `folder_of(db)`.
template <typename FolderOf, typename Write>
Exit export_each(const ExportArguments& arguments, const std::string& kind, FolderOf&& folder_of,
                 Write&& write) {
  apply_verbosity(arguments.capture.verbosity);
  return for_each_capture(choose_captures(arguments.capture), [&](const ChosenCapture& capture) {
    const ReadyStore ready = ready_store(capture);
    const auto folder = product_folder(capture.products, folder_of(ready.db.database()));
    const auto files = write(ready.db, folder);
    say_exported(ready.db, folder, files);
    if (!files.empty()) return ready.exit;
    log::warn("{}: no data for any {}; `msprof import` says why", capture.folder.string(), kind);
    return gravest(ready.exit, Exit::nothing_to_do);
  });
}

Exit run_timeline(const ExportArguments& arguments) {
  const auto folder_of = [](const Database& db) {
    if (timeline_layers(db).empty()) {
      throw Error(Exit::nothing_to_do,
                  "this version writes no timelines of CANN captures (PROF…); their tables come "
                  "with `msprof export summary`");
    }
    return std::string("timeline");
  };
  return export_each(arguments, "timeline", folder_of, export_timelines);
}

// -dir takes all words behind it: a table's name among them that is no folder is meant as a name.
void sort_out_names(ExportArguments& arguments) {
  auto& dirs = arguments.capture.dirs;
  const auto is_name = [](const std::string& word) {
    std::error_code error;
    return is_summary_name(word) && !std::filesystem::exists(word, error);
  };
  std::copy_if(dirs.begin(), dirs.end(), std::back_inserter(arguments.names), is_name);
  std::erase_if(dirs, is_name);
}

Exit run_summary(ExportArguments& arguments) {
  sort_out_names(arguments);
  check_summary_names(arguments.names);
  const auto format = arguments.format == "json" ? SummaryFormat::json : SummaryFormat::csv;
  return export_each(arguments, "summary", summary_folder,
                     [&](const TraceDb& store, const std::filesystem::path& folder) {
                       return export_summaries(store, folder, format, arguments.names);
                     });
}

void add_timeline(cli::Command& parent) {
  auto arguments = std::make_shared<ExportArguments>();
  cli::Command& command = parent.add_command("timeline",
                                             "Write chrome-trace JSON (timeline/*.json) for "
                                             "chrome://tracing and Perfetto, of JOB… captures. "
                                             "Imports first where the capture has no store, or its "
                                             "raw files changed.");
  command.set_examples(
      "  msprof export timeline -dir JOBXXX\n"
      "  msprof export timeline -dir JOBXXX --output /tmp/out");
  add_capture_options(command, arguments->capture);
  command.set_action([arguments] { return run_timeline(*arguments); });
}

void add_summary(cli::Command& parent) {
  auto arguments = std::make_shared<ExportArguments>();
  cli::Command& command =
      parent.add_command("summary",
                         "Write tables as csv or json. JOB… (into summary/): op_summary, "
                         "op_statistic, acl_statistic. PROF… (into mindstudio_profiler_output/): "
                         "op_summary, task_time, op_statistic, api_statistic, step_trace, "
                         "communication_statistic, fusion_op, msprof_tx, aicpu, operator_memory, "
                         "memory_record. Imports first where the capture has no store, or its raw "
                         "files changed.");
  command.set_examples(
      "  msprof export summary -dir JOBXXX --format csv\n"
      "  msprof export summary op_summary task_time -dir PROF_XXX\n"
      "  msprof export summary op_summary -dir JOBXXX --format json");
  add_capture_options(command, arguments->capture);
  command.add_option({"--format", &arguments->format, "FORMAT", "csv or json", {"csv", "json"}});
  command.add_option({"names", &arguments->names, "NAME", "only these tables (default: all)"});
  command.set_action([arguments] { return run_summary(*arguments); });
}

}  // namespace

void add_export_command(cli::Command& root) {
  cli::Command& command =
      root.add_command("export", "Write the timelines or the summary tables of a capture.");
  command.set_examples(
      "  msprof export timeline -dir JOBXXX\n"
      "  msprof export summary -dir PROF_XXX\n"
      "  msprof export summary --format csv");
  add_timeline(command);
  add_summary(command);
}

}  // namespace msprof
