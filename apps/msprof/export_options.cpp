#include "msprof/export_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"
#include "export/products.hpp"
#include "export/timeline_file.hpp"

namespace msprof {

namespace {

struct Unit {
  std::string_view name;
  double factor;
};
constexpr std::array kTimeUnits = {Unit{"ns", 1}, Unit{"us", 1e3}, Unit{"ms", 1e6}, Unit{"s", 1e9}};
constexpr std::array kSizeUnits = {Unit{"kB", 1e3},     Unit{"KB", 1e3},      Unit{"MB", 1e6},
                                   Unit{"GB", 1e9},     Unit{"KiB", 1 << 10}, Unit{"MiB", 1 << 20},
                                   Unit{"GiB", 1 << 30}};

// "12.5ms" as a number and what stands behind it; empty where it is no number >= 0.
struct Quantity {
  double number = 0;
  std::string_view unit;
};
std::optional<Quantity> quantity(std::string_view text) {
  Quantity result;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result.number);
  if (error != std::errc() || !(result.number >= 0) || !std::isfinite(result.number)) return {};
  result.unit = trim(text.substr(static_cast<std::size_t>(end - text.data())));
  return result;
}

template <std::size_t kCount>
std::optional<double> factor_of(const std::array<Unit, kCount>& units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return unit.factor;
  }
  return {};
}

constexpr double kMost = 9e18;

std::int64_t whole(double value) {
  return value < kMost ? static_cast<std::int64_t>(std::llround(value)) : INT64_MAX;
}

[[noreturn]] void refuse(std::string_view option, const std::string& value, std::string_view form) {
  throw Error(Exit::usage, fmt::format("{} {}: {}", option, printable(value), form));
}

constexpr std::string_view kRangeForm =
    "give BEGIN:END, each a time after the begin of the collection with its unit (5ms:1.5s), or "
    "the ts of the timeline in us (no unit); either may be left out";

// A point of --time-range; `begin_ns` is what times with a unit count from.
std::int64_t time_point(const std::string& range, std::string_view text, std::int64_t begin_ns) {
  const auto read = quantity(text);
  if (!read) refuse("--time-range", range, kRangeForm);
  if (read->unit.empty()) return whole(read->number * 1e3);
  const auto factor = factor_of(kTimeUnits, read->unit);
  if (!factor) refuse("--time-range", range, kRangeForm);
  const std::int64_t after = whole(read->number * *factor);
  return after > INT64_MAX - std::max<std::int64_t>(begin_ns, 0) ? INT64_MAX : begin_ns + after;
}

void read_range(const std::string& range, std::int64_t begin_ns, ExportScope& scope) {
  if (range.empty()) return;
  const auto ends = split(range, ':');
  if (ends.size() != 2 || (ends[0].empty() && ends[1].empty()))
    refuse("--time-range", range, kRangeForm);
  if (!ends[0].empty()) scope.range_begin_ns = time_point(range, ends[0], begin_ns);
  if (!ends[1].empty()) scope.range_end_ns = time_point(range, ends[1], begin_ns);
  if (scope.range_begin_ns > scope.range_end_ns)
    refuse("--time-range", range, "it ends before it begins");
}

std::int64_t min_duration_of(const std::string& text) {
  if (text.empty()) return 0;
  const auto read = quantity(text);
  const auto factor =
      read ? factor_of(kTimeUnits, read->unit.empty() ? "us" : read->unit) : std::nullopt;
  if (!factor) refuse("--min-dur", text, "give a time like 10us, 500ns or 1ms (no unit: us)");
  return whole(read->number * *factor);
}

std::uint64_t split_bytes_of(const std::string& text) {
  if (text.empty()) return 0;
  const auto read = quantity(text);
  const auto factor =
      read ? (read->unit.empty() ? std::optional(1.0) : factor_of(kSizeUnits, read->unit))
           : std::nullopt;
  if (!factor || read->number * *factor < 1)
    refuse("--split", text, "give a size like 200MB or 64MiB");
  return static_cast<std::uint64_t>(whole(read->number * *factor));
}

std::vector<std::int64_t> devices_of(const ScopeArguments& arguments) {
  std::vector<std::int64_t> devices;
  for (const std::string& words : arguments.devices) {
    for (const std::string_view word : split(words, ',')) {
      std::uint64_t device = 0;
      if (!parse_u64(trim(word), device) || device > INT32_MAX)
        refuse("--device", words, "give device numbers: 0 or 0,1");
      devices.push_back(static_cast<std::int64_t>(device));
    }
  }
  return devices;
}

std::vector<std::string> words_of(const std::vector<std::string>& lists) {
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

std::string layer_names(Dialect dialect, bool is_default) {
  std::vector<std::string_view> names;
  for (const auto& layer : all_timeline_layers()) {
    const LayerInfo& info = layer->info();
    if (info.dialect == dialect && info.is_default == is_default) names.push_back(info.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void add_scope_options(cli::Command& command, ScopeArguments& arguments) {
  command.add_option({"--device", &arguments.devices, "N", "only these devices: 0 or 0,1"});
  command.add_option({"--model-id", &arguments.model_id, "M",
                      "with --iteration-id: only what begins within that iteration of the model "
                      "(PROF…; `msprof query` lists them)"});
  command.add_option({"--iteration-id", &arguments.iteration_id, "I", "see --model-id"});
  command.add_option({"--style",
                      &arguments.style,
                      "STYLE",
                      "cann5: the files of CANN 5 (PROF…), a topic each, in device_N/timeline and "
                      "device_N/summary",
                      {"current", "cann5"}});
}

void add_timeline_options(cli::Command& command, TimelineArguments& arguments) {
  cli::Option layers = {
      "--layers", &arguments.layers, "LAYER",
      fmt::format("only these layers, or all: {} (JOB…); {}, {} (PROF…; {} only where it is named)",
                  layer_names(Dialect::svp, true), layer_names(Dialect::cann, true),
                  layer_names(Dialect::cann, false), layer_names(Dialect::cann, false))};
  layers.suggestions = [] {
    std::vector<cli::Suggestion> words = {{std::string(kAllLayers), "every layer"}};
    for (const auto& layer : all_timeline_layers())
      words.push_back({std::string(layer->name()), std::string(layer->info().help)});
    return words;
  };
  layers.takes_lists = true;
  command.add_option(std::move(layers));
  command.add_option({"--time-range", &arguments.time_range, "BEGIN:END",
                      "only what overlaps it: times after the begin of the collection with their "
                      "unit (5ms:1.5s), or ts of the timeline in us"});
  command.add_option(
      {"--min-dur", &arguments.min_duration, "TIME", "only slices at least so long: 10us, 1ms"});
  command.add_option({"--split", &arguments.split, "SIZE",
                      "several files of at most so much JSON (200MB), each a stretch of time"});
  command.add_option(
      {"--gzip", &arguments.gzip, "",
       "write .json.gz, a tenth of the size; chrome://tracing and Perfetto open it, MindStudio "
       "Insight does not"});
}

void check_scope(const ScopeArguments& arguments) {
  devices_of(arguments);
  if (arguments.model_id.has_value() != arguments.iteration_id.has_value())
    throw Error(Exit::usage,
                "--model-id and --iteration-id go together; `msprof query` lists them");
}

ExportScope scope_of(const Database& db, const ScopeArguments& arguments) {
  ExportScope scope;
  scope.devices = devices_of(arguments);
  check_devices(db, scope.devices);
  scope.model_number = arguments.model_id;
  scope.iteration = arguments.iteration_id;
  if (scope.iteration) find_iteration(db, scope);
  return scope;
}

ExportStyle style_of(const ScopeArguments& arguments) {
  return arguments.style == "cann5" ? ExportStyle::cann5 : ExportStyle::current;
}

void check_timeline(const TimelineArguments& arguments) {
  check_layer_names(words_of(arguments.layers));
  ExportScope scope;
  read_range(arguments.time_range, 0, scope);
  min_duration_of(arguments.min_duration);
  split_bytes_of(arguments.split);
}

TimelineOptions timeline_options_of(const Database& db, const ScopeArguments& scope,
                                    const TimelineArguments& arguments) {
  TimelineOptions options;
  options.layers = words_of(arguments.layers);
  options.scope = scope_of(db, scope);
  read_range(arguments.time_range, collection_begin_ns(db), options.scope);
  options.scope.min_duration_ns = min_duration_of(arguments.min_duration);
  options.style = style_of(scope);
  options.split_bytes = split_bytes_of(arguments.split);
  options.gzip = arguments.gzip;
  return options;
}

}  // namespace msprof
