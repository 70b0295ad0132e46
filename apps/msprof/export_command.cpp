// msprof export timeline | summary | db | all: the products of a capture as files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "analyze/advise/prof_rule.hpp"
#include "base/findings.hpp"
#include "base/log.hpp"
#include "base/shell_word.hpp"
#include "export/products.hpp"
#include "msprof/export_options.hpp"
#include "msprof/pipeline.hpp"
#include "msprof/usage_words.hpp"

namespace msprof {

namespace {

struct ExportArguments {
  CaptureOptions capture;
  ScopeArguments scope;
  TimelineArguments timeline;
  std::string format = "csv";
  std::vector<std::string> names;
};

// What is written of a capture, and why nothing is, where that can be told beforehand.
struct ExportPlan {
  std::vector<ExportJob> jobs;
  std::optional<FindingId> nothing_id{};
  std::string nothing_why{};
};

// Exports each capture: writes what `plan(store, folder)` gives.
template <typename Plan>
Exit export_each(const ExportArguments& arguments, std::string_view what, Plan&& plan) {
  apply_verbosity(arguments.capture.verbosity);
  return for_each_capture(choose_captures(arguments.capture), [&](const ChosenCapture& capture) {
    const ReadyStore ready = ready_store(capture);
    const ExportPlan planned = plan(ready.db, capture.products);
    const auto files = run_export_jobs(ready.db, planned.jobs);
    say_exported(ready.db, files);
    if (!files.empty()) return ready.exit;
    const std::string folder = capture.folder.string();
    if (planned.nothing_id) {
      log::warn(*planned.nothing_id, "{}: {}", folder, planned.nothing_why);
    } else {
      log::warn("{}: no data for any {}; `msprof import` says why", folder, what);
    }
    return gravest(ready.exit, Exit::nothing_to_do);
  });
}

ExportPlan plan_of_scope(std::vector<ExportJob> jobs, const ExportScope& scope) {
  if (scope.is_everything()) return {std::move(jobs)};
  return {
      std::move(jobs), FindingId::empty_scope,
      "nothing lies in the part that the options ask for; nothing is written, and what was there "
      "stays"};
}

Exit run_timeline(const ExportArguments& arguments) {
  check_scope(arguments.scope);
  check_timeline(arguments.timeline);
  return export_each(
      arguments, "timeline", [&](const TraceDb& store, const std::filesystem::path& base) {
        const auto options =
            timeline_options_of(store.database(), arguments.scope, arguments.timeline);
        return plan_of_scope(plan_timelines(store, base, options), options.scope);
      });
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
  for (const std::string& name : arguments.names) {
    if (!is_summary_name(name) && cli::looks_like_capture(name)) {
      throw Error(Exit::usage, fmt::format("'{}' is no table; captures stand behind -dir: "
                                           "msprof export summary -dir {}",
                                           name, shell_word(name)));
    }
  }
}

// As the older products of CANN printed them, and never more than a screen.
constexpr std::size_t kNamedOperators = 5;

void say_suggestions(TuningFiles& suggestions) {
  for (const TuningFile& file : suggestions.take()) {
    if (file.suggestions.empty()) continue;
    log::info("tuning suggestions for device {} (all operators: {}; more: `msprof advise`):",
              file.device, file.path.string());
    for (const TuningSuggestion& one : file.suggestions) {
      const std::size_t named = std::min(kNamedOperators, one.operators.size());
      const std::vector<std::string> first(one.operators.begin(),
                                           one.operators.begin() + static_cast<long>(named));
      const std::size_t rest = one.operators.size() - named;
      log::info("  {}: {}{}{}{}", one.type, one.suggestion, named == 0 ? "" : ": ",
                fmt::join(first, ", "), rest == 0 ? "" : fmt::format(" and {} more", rest));
    }
  }
}

// The jobs for the tables behind that for the suggestions, which takes as long as the longest of
// them.
std::vector<ExportJob> plan_with_suggestions(const TraceDb& store,
                                             const std::filesystem::path& base,
                                             const SummaryOptions& options,
                                             const std::shared_ptr<TuningFiles>& suggestions) {
  auto jobs = plan_prof_rules(store, base, options, suggestions);
  for (auto& job : plan_summaries(store, base, options)) jobs.push_back(std::move(job));
  return jobs;
}

Exit run_summary(ExportArguments& arguments) {
  sort_out_names(arguments);
  check_summary_names(arguments.names);
  check_scope(arguments.scope);
  const auto suggestions = std::make_shared<TuningFiles>();
  const Exit exit = export_each(
      arguments, "summary", [&](const TraceDb& store, const std::filesystem::path& base) {
        SummaryOptions options;
        options.format = arguments.format == "json" ? SummaryFormat::json : SummaryFormat::csv;
        options.names = arguments.names;
        options.scope = scope_of(store.database(), arguments.scope);
        options.style = style_of(arguments.scope);
        return plan_of_scope(plan_with_suggestions(store, base, options, suggestions),
                             options.scope);
      });
  say_suggestions(*suggestions);
  return exit;
}

Exit run_db(const ExportArguments& arguments) {
  return export_each(
      arguments, "database",
      [](const TraceDb& store, const std::filesystem::path& base) -> ExportPlan {
        if (has_unified_db(store.database())) return {plan_unified_db(store, base)};
        return {
            {},
            FindingId::no_unified_db,
            "the unified database msprof_*.db is of captures of Atlas machines (PROF…), and this "
            "one is of a board (JOB…): `msprof export timeline` and `msprof export summary` give "
            "what it has"};
      });
}

Exit run_all(const ExportArguments& arguments) {
  return export_each(arguments, "product",
                     [](const TraceDb& store, const std::filesystem::path& base) -> ExportPlan {
                       auto jobs = plan_all(store, base);
                       for (auto& job : plan_prof_rules(store, base, {}, nullptr))
                         jobs.push_back(std::move(job));
                       return {std::move(jobs)};
                     });
}

constexpr const char* kImportsFirst =
    "Imports first where the capture has no store, or its raw files changed.";

void add_timeline(cli::Command& parent) {
  auto arguments = std::make_shared<ExportArguments>();
  cli::Command& command = parent.add_command(
      "timeline",
      fmt::format("Write chrome-trace JSON for chrome://tracing, Perfetto and MindStudio "
                  "Insight: timeline/*.json of JOB… captures; msprof_*.json, "
                  "step_trace_*.json and msprof_tx_*.json in "
                  "mindstudio_profiler_output/ of PROF… captures. {}",
                  kImportsFirst));
  command.set_examples(
      "  msprof export timeline -dir PROF_XXX\n"
      "  msprof export timeline -dir PROF_XXX --gzip\n"
      "  msprof export timeline -dir PROF_XXX --split 200MB\n"
      "  msprof export timeline -dir PROF_XXX --time-range 1s:1.5s --min-dur 10us");
  add_capture_options(command, arguments->capture);
  add_timeline_options(command, arguments->timeline);
  add_scope_options(command, arguments->scope);
  command.set_action([arguments] { return run_timeline(*arguments); });
}

std::string table_names(Dialect dialect) {
  std::vector<std::string_view> names;
  for (const auto& table : all_summary_tables()) {
    if (table->is_exported() && table->info().dialect == dialect) names.push_back(table->name());
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

void add_summary(cli::Command& parent) {
  auto arguments = std::make_shared<ExportArguments>();
  cli::Command& command = parent.add_command(
      "summary", fmt::format("Write tables as csv or json. JOB… (into summary/): {}. PROF… (into "
                             "mindstudio_profiler_output/): {}. {}",
                             table_names(Dialect::svp), table_names(Dialect::cann), kImportsFirst));
  command.set_examples(
      "  msprof export summary -dir JOBXXX --format csv\n"
      "  msprof export summary op_summary task_time -dir PROF_XXX\n"
      "  msprof export summary -dir PROF_XXX --model-id 1 --iteration-id 2");
  add_capture_options(command, arguments->capture);
  command.add_option({"--format", &arguments->format, "FORMAT", "csv or json", {"csv", "json"}});
  add_scope_options(command, arguments->scope);
  cli::Option names = {"names", &arguments->names, "NAME", "only these tables (default: all)"};
  names.suggestions = [] {
    std::vector<cli::Suggestion> words;
    for (const auto& table : all_summary_tables()) {
      if (table->is_exported())
        words.push_back({std::string(table->name()), std::string(table->info().help)});
    }
    return words;
  };
  command.add_option(std::move(names));
  command.set_action([arguments] { return run_summary(*arguments); });
}

void add_db(cli::Command& parent) {
  auto arguments = std::make_shared<ExportArguments>();
  cli::Command& command = parent.add_command(
      "db",
      fmt::format("Write the unified database msprof_*.db of a PROF… capture into its folder, "
                  "as MindStudio Insight opens it. {}",
                  kImportsFirst));
  command.set_examples("  msprof export db -dir PROF_XXX");
  add_capture_options(command, arguments->capture);
  command.set_action([arguments] { return run_db(*arguments); });
}

void add_all(cli::Command& parent) {
  auto arguments = std::make_shared<ExportArguments>();
  cli::Command& command = parent.add_command(
      "all", fmt::format("Write every product: timelines, tables as csv, and the unified database "
                         "where there is one. {}",
                         kImportsFirst));
  command.set_examples("  msprof export all -dir PROF_XXX");
  add_capture_options(command, arguments->capture);
  command.set_action([arguments] { return run_all(*arguments); });
}

}  // namespace

void add_export_command(cli::Command& root) {
  cli::Command& command = root.add_command(
      "export", "Write the timelines, the summary tables or the unified database of a capture.");
  command.set_examples(
      "  msprof export timeline -dir JOBXXX\n"
      "  msprof export summary -dir PROF_XXX\n"
      "  msprof export summary --format csv\n"
      "  msprof export all -dir PROF_XXX");
  add_timeline(command);
  add_summary(command);
  add_db(command);
  add_all(command);
}

}  // namespace msprof
