// msprof export timeline | summary | db | parquet | all | cluster: writes products as files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "analyze/advise/prof_rule.hpp"
#include "base/error.hpp"
#include "base/findings.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "export/exporter.hpp"
#include "export/products.hpp"
#include "export/trace/report_names.hpp"
#include "export/trace/timeline_file.hpp"
#include "msprof/cluster_export.hpp"
#include "msprof/command_line.hpp"
#include "msprof/export_limits.hpp"
#include "msprof/export_parquet.hpp"
#include "msprof/pipeline.hpp"

namespace msprof {

namespace {

// Options that select the part of a capture and the output format.

// --device, --model-id, --iteration-id, --style: for tables and timelines.
struct ScopeArguments {
  std::vector<std::string> devices;
  std::optional<long> model_id;
  std::optional<long> iteration_id;
  std::optional<long> iteration_count;
  std::string style;  // empty: the style that matches the capture
};

// --layers, --reports, --time-range, --min-dur, --split, --gzip: for timelines.
struct TimelineArguments {
  std::vector<std::string> layers;
  std::string reports;
  std::string time_range;
  std::string min_duration;
  std::string split;
  bool gzip = false;
  bool merged = false;
  std::string format = "json";
  std::string arrow_ends;
};

std::vector<std::string> split_words(const std::vector<std::string>& lists) {
  std::vector<std::string> words;
  for (const std::string& list : lists) {
    for (const std::string_view word : split(list, ',')) words.emplace_back(trim(word));
  }
  return words;
}

void check_devices(const Database& db, const std::vector<std::int64_t>& devices) {
  std::vector<std::int64_t> known;
  Statement read = db.prepare("SELECT id FROM device ORDER BY id");
  while (read.step()) known.push_back(read.integer(0));
  for (const std::int64_t device : devices) {
    if (std::find(known.begin(), known.end(), device) == known.end())
      throw Error(Exit::usage,
                  fmt::format("no device {}; this capture has {}", device,
                              known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  }
}

// Returns the names of the layers for which `takes` is true: "cann, msproftx".
template <typename Takes>
std::string layer_names(Takes&& takes) {
  std::vector<std::string_view> names;
  for (const auto& layer : all_timeline_layers()) {
    if (takes(layer->info())) names.push_back(layer->info().name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string layers_help() {
  const auto single = [](Dialect dialect, bool is_default) {
    return layer_names([&](const LayerInfo& info) {
      return info.dialect == dialect && info.is_default == is_default && info.group.empty();
    });
  };
  const std::string only_named = single(Dialect::cann, false);
  return fmt::format(
      "only these layers, or all. JOB…: {}. PROF…: {}, {} ({} only if named), {} (all of these: "
      "{}). PROF… of V6 chips: {} (all of these: {})",
      single(Dialect::svp, true), single(Dialect::cann, true), only_named, only_named,
      layer_names([](const LayerInfo& info) { return info.group == kCounterLayers; }),
      kCounterLayers,
      layer_names([](const LayerInfo& info) { return info.group == kEngineLayers; }),
      kEngineLayers);
}

std::vector<cli::Suggestion> layer_suggestions() {
  std::vector<cli::Suggestion> words = {
      {std::string(kAllLayers), "every layer"},
      {std::string(kCounterLayers), "all layers of system counters"},
      {std::string(kEngineLayers), "all layers of the engines of V6 chips"}};
  for (const auto& layer : all_timeline_layers())
    words.push_back({std::string(layer->name()), std::string(layer->info().help)});
  return words;
}

void add_style_option(cli::Command& command, ScopeArguments& arguments) {
  command.add_option(
      {"--style",
       &arguments.style,
       "STYLE",
       "cann5: the files of CANN 5, in device_N/timeline and device_N/summary (default for "
       "captures of CANN 5 and older); cann8: names of CANN 8.0 to 8.5 (Block Dim)",
       {"current", "cann5", "cann8"}});
}

void add_scope_options(cli::Command& command, ScopeArguments& arguments) {
  command.add_option({"--device", &arguments.devices, "N", "only these devices: 0 or 0,1"});
  command.add_option({"--model-id", &arguments.model_id, "M",
                      "with --iteration-id: only events that start in that iteration of the model "
                      "(PROF…; `msprof query` lists them)"});
  command.add_option({"--iteration-id", &arguments.iteration_id, "I",
                      "see --model-id, which is optional if only one model has iterations"});
  command.add_option({"--iteration-count", &arguments.iteration_count, "N",
                      "with --iteration-id: N iterations starting there, 1 to 5 (default 1)"});
  add_style_option(command, arguments);
}

void add_reports_option(cli::Command& command, TimelineArguments& arguments) {
  command.add_option({"--reports", &arguments.reports, "FILE",
                      "only the layers set to true in this file (vendor's format): "
                      "{\"json_process\": {\"ascend\": true, …}} (PROF…)"});
}

void add_arrows_option(cli::Command& command, TimelineArguments& arguments) {
  command.add_option({"--arrow-ends",
                      &arguments.arrow_ends,
                      "ENDS",
                      "arrow ends: last (for viewers) or every (like the vendor's tool; PROF…)",
                      {"last", "every"}});
}

void add_timeline_options(cli::Command& command, TimelineArguments& arguments) {
  cli::Option layers = {"--layers", &arguments.layers, "LAYER", layers_help()};
  layers.suggestions = layer_suggestions;
  layers.takes_lists = true;
  command.add_option(std::move(layers));
  add_reports_option(command, arguments);
  command.add_option({"--time-range", &arguments.time_range, "BEGIN:END",
                      "only events in this range: offsets from the start of collection, with unit "
                      "(5ms:1.5s), or timeline ts in us"});
  command.add_option(
      {"--min-dur", &arguments.min_duration, "TIME", "only slices at least this long: 10us, 1ms"});
  command.add_option({"--split", &arguments.split, "SIZE",
                      "several files of at most SIZE of JSON (200MB), one per time range"});
  command.add_option({"--gzip", &arguments.gzip, "",
                      "write .json.gz, a tenth of the size; opens in chrome://tracing and "
                      "Perfetto, but not in MindStudio Insight"});
  command.add_option({"--merged", &arguments.merged, "",
                      "one file with calls and layers, and arrows from each call to the layers it "
                      "started (JOB…)"});
  add_arrows_option(command, arguments);
  command.add_option({"--format",
                      &arguments.format,
                      "FORMAT",
                      "json, or perfetto: .perfetto-trace in protobuf, smaller and faster to open, "
                      "only for ui.perfetto.dev and trace_processor",
                      {"json", "perfetto"}});
}

// The vendor's limit.
constexpr long kMaxIterations = 5;

// The options of ScopeArguments, parsed.
struct ScopeRequest {
  std::vector<std::int64_t> devices;
  std::optional<std::int64_t> model_number;
  std::optional<std::int64_t> iteration;
  std::int64_t iteration_count = 1;
  ExportStyle style = ExportStyle::of_capture;
};

ExportStyle parse_style(const std::string& style) {
  if (style.empty()) return ExportStyle::of_capture;
  if (style == "cann8") return ExportStyle::cann8;
  return style == "cann5" ? ExportStyle::cann5 : ExportStyle::current;
}

// Called before any capture is read. Throws Error(usage) if a value cannot be parsed.
ScopeRequest parse_scope(const ScopeArguments& arguments) {
  ScopeRequest request;
  request.devices = parse_devices(arguments.devices);
  request.model_number = arguments.model_id;
  request.iteration = arguments.iteration_id;
  request.style = parse_style(arguments.style);
  if (arguments.model_id && !arguments.iteration_id)
    throw Error(Exit::usage, "--model-id needs --iteration-id; `msprof query` lists both");
  if (!arguments.iteration_count) return request;
  if (!arguments.iteration_id)
    throw Error(Exit::usage, "--iteration-count needs --iteration-id, the first iteration");
  const long count = *arguments.iteration_count;
  if (count < 1 || count > kMaxIterations)
    throw Error(Exit::usage,
                fmt::format("--iteration-count: expected 1 to {}, got {}", kMaxIterations, count));
  request.iteration_count = count;
  return request;
}

// Returns the scope within a store. Throws Error(usage) if a device, model or iteration does not
// exist.
ExportScope resolve_scope(const Database& db, const ScopeRequest& request) {
  ExportScope scope;
  scope.devices = request.devices;
  check_devices(db, scope.devices);
  scope.model_number = request.model_number;
  scope.iteration = request.iteration;
  scope.iteration_count = request.iteration_count;
  if (scope.iteration) find_iteration(db, scope);
  return scope;
}

// The options of TimelineArguments, parsed.
struct TimelineRequest {
  TimelineOptions options;  // without scope and style
  bool has_reports = false;
  TimeRange range;
  std::int64_t min_duration_ns = 0;
};

// Rejects options not supported by CANN 5 timelines.
void check_current_style(ExportStyle style, const TimelineRequest& request) {
  if (style != ExportStyle::cann5) return;
  const bool is_perfetto = request.options.format == TimelineFormat::perfetto;
  std::string_view option = request.has_reports ? "--reports" : "--format perfetto";
  if (request.options.is_merged) option = "--merged";
  if (!request.has_reports && !request.options.is_merged && !is_perfetto) return;
  throw Error(Exit::usage, fmt::format("{} is not supported with --style cann5, the default for "
                                       "captures of CANN 5 and older: add --style current",
                                       option));
}

// --reports uses names of Atlas machines.
void check_reports_dialect(const Database& db, const TimelineRequest& request) {
  if (request.has_reports && read_meta(db, "dialect") != dialect_name(Dialect::cann))
    throw Error(Exit::usage, "--reports works only with captures of Atlas machines (PROF…)");
}

void check_format(const TimelineArguments& arguments) {
  if (arguments.format != "perfetto") return;
  if (arguments.gzip || !arguments.split.empty())
    throw Error(Exit::usage,
                "--gzip and --split are for JSON: they cannot be used with --format perfetto, "
                "whose files are already compressed");
}

// Called before any capture is read. `style` is that of the options. Throws Error(usage) if a
// value, or the file of --reports, cannot be parsed.
TimelineRequest parse_timeline(const TimelineArguments& arguments, ExportStyle style) {
  TimelineRequest request;
  request.has_reports = !arguments.reports.empty();
  request.options.gzip = arguments.gzip;
  request.options.is_merged = arguments.merged;
  request.options.ends_every_arrow = arguments.arrow_ends == "every";
  if (arguments.format == "perfetto") request.options.format = TimelineFormat::perfetto;
  if (request.has_reports && !arguments.layers.empty())
    throw Error(Exit::usage, "--layers and --reports cannot be combined: both select layers");
  check_current_style(style, request);
  if (request.has_reports) request.options.layers = read_report_layers(arguments.reports);
  check_format(arguments);
  if (!request.has_reports) {
    request.options.layers = split_words(arguments.layers);
    check_layer_names(request.options.layers);
  }
  request.range = parse_time_range(arguments.time_range);
  request.min_duration_ns = parse_min_duration(arguments.min_duration);
  request.options.split_bytes = parse_split_bytes(arguments.split);
  return request;
}

// Returns the options for a store. Throws Error(usage) if they do not fit its dialect or style.
TimelineOptions resolve_timeline_options(const Database& db, const ScopeRequest& scope,
                                         const TimelineRequest& request) {
  check_reports_dialect(db, request);
  TimelineOptions options = request.options;
  options.scope = resolve_scope(db, scope);
  apply_time_range(request.range, collection_begin_ns(db), options.scope);
  options.scope.min_duration_ns = request.min_duration_ns;
  options.style = style_for(db, scope.style);
  check_current_style(options.style, request);
  return options;
}

struct ExportArguments {
  CaptureOptions capture;
  ScopeArguments scope;
  TimelineArguments timeline;
  std::string format = "csv";
  bool excel = false;
  std::vector<std::string> names;
  bool clear = false;
};

void add_export_options(cli::Command& command, ExportArguments& arguments) {
  add_capture_options(command, arguments.capture);
  command.add_option(
      {"--clear", &arguments.clear, "", "remove the store afterwards; keep raw data and products"});
}

SummaryFormat parse_format(const ExportArguments& arguments) {
  if (arguments.format == "json") {
    if (arguments.excel)
      throw Error(Exit::usage, "--excel applies to csv: remove --excel or --format json");
    return SummaryFormat::json;
  }
  return arguments.excel ? SummaryFormat::csv_for_excel : SummaryFormat::csv;
}

// Plan for a capture. If nothing will be written, nothing_why contains the reason, if known.
struct ExportPlan {
  std::vector<ExportJob> jobs;
  std::optional<FindingId> nothing_id{};
  std::string nothing_why{};
};

// Exports each capture: writes the jobs returned by `plan(store, folder)`.
template <typename Plan>
Exit export_each(const ExportArguments& arguments, std::string_view what, Plan&& plan) {
  apply_verbosity(arguments.capture.verbosity);
  const auto export_one = [&](const ChosenCapture& capture) {
    const ReadyStore ready = ready_store(capture);
    const ExportPlan planned = plan(ready.db, capture.products);
    const auto files = run_export_jobs(ready.db, planned.jobs);
    print_exported(ready.db, files);
    if (!files.empty()) return ready.exit;
    const std::string folder = capture.folder.string();
    if (planned.nothing_id) {
      log::warn(*planned.nothing_id, "{}: {}", folder, planned.nothing_why);
    } else {
      log::warn("{}: no data for any {}; `msprof import` shows why", folder, what);
    }
    return gravest(ready.exit, Exit::nothing_to_do);
  };
  return for_each_capture(choose_captures(arguments.capture), [&](const ChosenCapture& capture) {
    const Exit exit = export_one(capture);
    if (arguments.clear) remove_store(capture.products);
    return exit;
  });
}

ExportPlan make_scope_plan(std::vector<ExportJob> jobs, const ExportScope& scope) {
  if (scope.is_everything()) return {std::move(jobs)};
  return {std::move(jobs), FindingId::empty_scope,
          "the options select no data: no file was written, existing files are unchanged"};
}

Exit run_timeline(const ExportArguments& arguments) {
  const ScopeRequest scope = parse_scope(arguments.scope);
  const TimelineRequest request = parse_timeline(arguments.timeline, scope.style);
  return export_each(
      arguments, "timeline", [&](const TraceDb& store, const std::filesystem::path& base) {
        const auto options = resolve_timeline_options(store.database(), scope, request);
        return make_scope_plan(plan_timelines(store, base, options), options.scope);
      });
}

// -dir consumes all following words: a word that is a table's name and not an existing folder is
// treated as a table.
void sort_out_names(ExportArguments& arguments) {
  auto& dirs = arguments.capture.dirs;
  const auto is_name = [](const std::string& word) {
    std::error_code error;
    return is_summary_name(word) && !std::filesystem::exists(word, error);
  };
  std::copy_if(dirs.begin(), dirs.end(), std::back_inserter(arguments.names), is_name);
  std::erase_if(dirs, is_name);
  for (const std::string& name : arguments.names) {
    if (!is_summary_name(name) && cli::is_capture_name(name)) {
      throw Error(
          Exit::usage,
          fmt::format(
              "'{}' is not a table; give captures after -dir: msprof export summary -dir {}", name,
              shell_word(name)));
    }
  }
}

Exit run_summary(ExportArguments& arguments) {
  sort_out_names(arguments);
  check_summary_names(arguments.names);
  const SummaryFormat format = parse_format(arguments);
  const ScopeRequest scope = parse_scope(arguments.scope);
  const auto suggestions = std::make_shared<TuningFiles>();
  const Exit exit = export_each(
      arguments, "summary", [&](const TraceDb& store, const std::filesystem::path& base) {
        SummaryOptions options;
        options.format = format;
        options.names = arguments.names;
        options.scope = resolve_scope(store.database(), scope);
        options.style = scope.style;
        const auto rules = ProfRules::plan(store, base, options, suggestions);
        if (rules) options.listener = rules->listener();
        auto jobs = plan_summaries(store, base, options);
        if (rules) jobs.insert(jobs.begin(), rules->job());
        return make_scope_plan(std::move(jobs), options.scope);
      });
  print_suggestions(*suggestions);
  return exit;
}

Exit run_db(const ExportArguments& arguments) {
  const ExportStyle style = parse_style(arguments.scope.style);
  return export_each(
      arguments, "database",
      [&](const TraceDb& store, const std::filesystem::path& base) -> ExportPlan {
        if (has_unified_db(store.database())) {
          auto jobs = plan_unified_db(store, base, style);
          if (!jobs.empty()) add_service_files(jobs, store, base);
          return {std::move(jobs)};
        }
        return {
            {},
            FindingId::no_unified_db,
            "a unified database (msprof_*.db) exists only for captures of Atlas machines (PROF…), "
            "but "
            "this capture is of a board (JOB…): use `msprof export timeline` and `msprof export "
            "summary`"};
      });
}

Exit run_all(const ExportArguments& arguments) {
  const ExportStyle style = parse_style(arguments.scope.style);
  const TimelineRequest request = parse_timeline(arguments.timeline, style);
  const SummaryFormat format = parse_format(arguments);
  return export_each(arguments, "product",
                     [&](const TraceDb& store, const std::filesystem::path& base) -> ExportPlan {
                       check_reports_dialect(store.database(), request);
                       TimelineOptions timeline = request.options;
                       timeline.style = style_for(store.database(), style);
                       check_current_style(timeline.style, request);
                       return {plan_all_products(store, base, timeline, format)};
                     });
}

constexpr const char* kImportsFirst =
    "Imports first if the capture has no store or its raw files have changed.";

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
      "  msprof export timeline -dir PROF_XXX --format perfetto\n"
      "  msprof export timeline -dir JOBXXX --merged\n"
      "  msprof export timeline -dir PROF_XXX --split 200MB\n"
      "  msprof export timeline -dir PROF_XXX --time-range 1s:1.5s --min-dur 10us");
  add_export_options(command, *arguments);
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
  add_export_options(command, *arguments);
  command.add_option({"--format", &arguments->format, "FORMAT", "csv or json", {"csv", "json"}});
  add_excel_option(command, arguments->excel);
  add_scope_options(command, arguments->scope);
  cli::Option names = {"names", &arguments->names, "NAME",
                       "only these tables (default: all, of JOB… without acl and task_time)"};
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
  cli::Command& command =
      parent.add_command("db", fmt::format("Write the unified database msprof_*.db of a PROF… "
                                           "capture into its folder, for MindStudio Insight. {}",
                                           kImportsFirst));
  command.set_examples("  msprof export db -dir PROF_XXX");
  add_export_options(command, *arguments);
  command.add_option({"--style",
                      &arguments->scope.style,
                      "STYLE",
                      "cann8: names of CANN 8.0 to 8.5 (blockDim, schema 1.0.0)",
                      {"current", "cann8"}});
  command.set_action([arguments] { return run_db(*arguments); });
}

void add_all(cli::Command& parent) {
  auto arguments = std::make_shared<ExportArguments>();
  cli::Command& command = parent.add_command(
      "all",
      fmt::format(
          "Write all products: timelines, tables as csv, and the unified database if supported. {}",
          kImportsFirst));
  command.set_examples("  msprof export all -dir PROF_XXX");
  add_export_options(command, *arguments);
  add_excel_option(command, arguments->excel);
  add_reports_option(command, arguments->timeline);
  add_arrows_option(command, arguments->timeline);
  add_style_option(command, arguments->scope);
  command.set_action([arguments] { return run_all(*arguments); });
}

}  // namespace

void add_export_command(cli::Command& root) {
  cli::Command& command =
      root.add_command("export",
                       "Write the timelines, the summary tables, the unified database or Parquet "
                       "files of a capture, or the products of a cluster.");
  command.set_examples(
      "  msprof export timeline -dir JOBXXX\n"
      "  msprof export summary -dir PROF_XXX\n"
      "  msprof export summary --format csv\n"
      "  msprof export all -dir PROF_XXX");
  add_timeline(command);
  add_summary(command);
  add_db(command);
  add_export_parquet(command);
  add_cluster_export(command);
  add_all(command);
}

}  // namespace msprof
