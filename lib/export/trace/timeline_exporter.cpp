// Plans the timelines of the current style: which layers share a file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "export/exporter.hpp"
#include "export/products.hpp"
#include "export/scope/export_style.hpp"
#include "export/trace/timeline_file.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

using Layers = std::vector<std::unique_ptr<TimelineLayer>>;

// Returns the named layers, or the default ones. Throws Error(usage) for a name that is not in
// `layers`.
Layers layers_named(Layers layers, const std::vector<std::string>& names) {
  if (names.empty()) {
    std::erase_if(layers, [](const auto& layer) { return !layer->info().is_default; });
    return layers;
  }
  std::vector<std::string_view> valid;
  for (const auto& layer : layers) valid.push_back(layer->name());
  for (const auto& layer : layers) {
    const std::string_view group = layer->info().group;
    if (!group.empty() && std::find(valid.begin(), valid.end(), group) == valid.end())
      valid.push_back(group);
  }
  for (const std::string& name : names) {
    if (name != kAllLayers && std::find(valid.begin(), valid.end(), name) == valid.end()) {
      throw Error(
          Exit::usage,
          fmt::format("unknown layer '{}'; valid: {}, {}{}", name, fmt::join(valid, ", "),
                      kAllLayers,
                      did_you_mean(name, std::vector<std::string>(valid.begin(), valid.end()))));
    }
  }
  if (std::find(names.begin(), names.end(), kAllLayers) == names.end()) {
    std::erase_if(layers, [&](const auto& layer) {
      const auto is_named = [&](std::string_view name) {
        return !name.empty() && std::find(names.begin(), names.end(), name) != names.end();
      };
      return !is_named(layer->name()) && !is_named(layer->info().group);
    });
  }
  return layers;
}

// Returns the files that `layers` draw, in the order of their first layers.
std::vector<TimelineFile> timeline_files(const Database& db, const Layers& layers,
                                         const TimelineOptions& options) {
  ExportScope scope = options.scope;
  find_candidates(db, scope);
  std::vector<TimelineFile> files;
  std::map<std::string, std::size_t> shared;
  FileNames names(timeline_extension(options));
  for (const auto& layer : layers) {
    for (OutputFile& output_file : layer->output_files(db)) {
      if (!is_of_scope(db, output_file, scope)) continue;
      output_file.scope = scope;
      if (options.is_merged) {
        output_file.stem = kMergedTimeline;
        output_file.is_shared = output_file.is_merged = true;
      }
      name_scope(output_file);
      const auto known = output_file.is_shared ? shared.find(output_file.stem) : shared.end();
      if (known != shared.end()) {
        files[known->second].layers.emplace_back(layer.get(), output_file);
        continue;
      }
      if (output_file.is_shared) shared[output_file.stem] = files.size();
      files.push_back({output_file, {{layer.get(), output_file}}, names.next(output_file.stem)});
    }
  }
  for (TimelineFile& file : files) {
    const auto draws = [&](std::string_view name) {
      return std::any_of(file.layers.begin(), file.layers.end(),
                         [&](const auto& layer) { return layer.first->name() == name; });
    };
    const bool has_arrows =
        (draws("cann") && (draws("ascend_hardware") || draws("communication"))) ||
        (draws("acl") && draws("task_time"));
    // torch_npu reads the time of a collective from the first end of its arrow, so Communication
    // must come before the layers that draw Ascend Hardware.
    std::stable_partition(file.layers.begin(), file.layers.end(), [](const auto& layer) {
      return layer.first->name() == "cann" || layer.first->name() == "communication";
    });
    for (auto& [layer, output_file] : file.layers) {
      output_file.has_arrows = has_arrows;
      output_file.ends_every_arrow = options.ends_every_arrow;
    }
  }
  return files;
}

void check_merged(const Database& db, const TimelineOptions& options) {
  if (options.is_merged && !has_merged_timeline(db)) {
    throw Error(Exit::usage,
                "--merged is for captures of boards (JOB…); the timeline of this one (PROF…) is "
                "one file already: leave it out");
  }
}

// Returns the name that the ledger of a folder uses for timelines in that format.
std::string ledger_kind(TimelineFormat format) {
  return format == TimelineFormat::perfetto ? "perfetto" : "timeline";
}

}  // namespace

bool names_all(const std::vector<std::string>& layers) {
  return layers.empty() || std::find(layers.begin(), layers.end(), kAllLayers) != layers.end();
}

void check_layer_names(const std::vector<std::string>& names) {
  auto others = names;
  std::erase_if(others, [](const std::string& name) {
    const auto topics = cann5_timelines();
    return std::find(topics.begin(), topics.end(), name) != topics.end();
  });
  layers_named(all_timeline_layers(), others);
}

std::vector<ExportJob> plan_timelines(const TraceDb& store, const fs::path& base,
                                      const TimelineOptions& options) {
  const Database& db = store.database();
  check_style(db, options.scope, options.style);
  check_merged(db, options);
  if (style_for(db, options.style) == ExportStyle::cann5)
    return plan_cann5_timelines(store, base, options);
  const auto layers =
      std::make_shared<const Layers>(layers_named(timeline_layers(db), options.layers));
  const auto folder = std::make_shared<ProductFolder>(
      product_folder(base, timeline_folder(db)), ledger_kind(options.format),
      names_all(options.layers) && options.scope.devices.empty());
  std::vector<ExportJob> jobs;
  for (TimelineFile& timeline : timeline_files(db, *layers, options)) {
    folder->claim(timeline.output_file.product);
    jobs.push_back(
        {[layers, folder, options, timeline = std::move(timeline)](const Database& connection) {
           return write_timeline(connection, *folder, timeline, options);
         },
         folder});
  }
  return jobs;
}

void write_timeline_events(const Database& db, const ExportScope& scope, TraceWriter& out) {
  TimelineOptions options;
  options.scope = scope;
  options.is_merged = has_merged_timeline(db);
  const Layers layers = layers_named(timeline_layers(db), {});
  const auto files = timeline_files(db, layers, options);
  // The file with the most layers; others are for single layers.
  const auto whole = std::max_element(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return a.layers.size() < b.layers.size();
  });
  if (whole == files.end()) return out.finish();
  whole->write(db, out);
}

std::string viewer_limit(std::uint64_t text_bytes) {
  // Largest texts that viewers were observed to load: chrome://tracing keeps the whole file in one
  // string; the Perfetto UI has 2 GB of memory for the parsed trace.
  constexpr std::uint64_t kMaxForChrome = 250'000'000;
  constexpr std::uint64_t kMaxForPerfetto = 1'000'000'000;
  if (text_bytes <= kMaxForChrome) return "";
  if (text_bytes <= kMaxForPerfetto) return "too large for chrome://tracing";
  return "too large for viewers in a browser: use --split 200MB, --time-range or --layers";
}

}  // namespace msprof
