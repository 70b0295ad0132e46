// Plans the timelines of `--style cann5`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "export/old/parts.hpp"
#include "export/exporter.hpp"
#include "export/products.hpp"
#include "export/scope/export_style.hpp"
#include "export/trace/timeline_file.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

using namespace cann5;

using Layers = std::vector<std::unique_ptr<TimelineLayer>>;

std::vector<Cann5Timeline> topics_named(ProductAge age, const std::vector<std::string>& names) {
  auto topics = cann5_timelines(age);
  if (names_all(names)) return topics;
  std::vector<std::string_view> valid;
  valid.reserve(topics.size());
  for (const auto& topic : topics) valid.push_back(topic.name);
  for (const std::string& name : names) {
    if (std::find(valid.begin(), valid.end(), name) == valid.end()) {
      throw Error(Exit::usage, fmt::format("unknown timeline '{}' of --style cann5; valid: {}, {}",
                                           name, fmt::join(valid, ", "), kAllLayers));
    }
  }
  std::erase_if(topics, [&](const auto& topic) {
    return std::find(names.begin(), names.end(), topic.name) == names.end();
  });
  return topics;
}

bool draws(const Cann5Timeline& topic, const TimelineLayer& layer) {
  if (topic.layers.empty()) return layer.info().is_default;
  return std::find(topic.layers.begin(), topic.layers.end(), layer.name()) != topic.layers.end();
}

// Returns the layers of a topic that have data. Host layers show the whole capture even if an
// iteration is selected, except in ai_stack_time, which follows an iteration from its calls to its
// tasks, and in the timeline of all processes, where CANN 5 limited them, too.
TimelineFile make_timeline(const Database& db, const Layers& layers, const Cann5Timeline& topic,
                           const DevicePart& part, const TimelineOptions& options) {
  TimelineFile timeline;
  timeline.output_file = make_output_file(topic.name, part);
  timeline.file_name = timeline.output_file.stem + timeline_extension(options);
  for (const auto& layer : layers) {
    if (!draws(topic, *layer) || layer->output_files(db).empty()) continue;
    OutputFile output_file = timeline.output_file;
    output_file.key = topic.key;
    if (layer->info().is_of_host && topic.key != kAiStackTime && topic.key != kWholeTimeline)
      output_file.scope = part.scope.without_iteration();
    timeline.layers.emplace_back(layer.get(), output_file);
  }
  return timeline;
}

class TimelinePlanner {
 public:
  TimelinePlanner(const TraceDb& store, const TimelineOptions& options)
      : db_(store.database()),
        store_(store.path()),
        options_(options),
        topics_(topics_named(to_product_age(read_generation(db_)), options.layers)),
        layers_(std::make_shared<const Layers>(
            cann5_layers(db_, to_product_age(read_generation(db_))))) {}

  void plan(const DevicePart& part, Cann5Folder place,
            const std::shared_ptr<ProductFolder>& folder) {
    std::vector<std::string_view> missing;
    for (const Cann5Timeline& topic : topics_) {
      if (topic.folder != place) continue;
      TimelineFile timeline = make_timeline(db_, *layers_, topic, part, options_);
      if (timeline.layers.empty()) {
        missing.push_back(topic.name);
        continue;
      }
      folder->claim(timeline.output_file.product);
      jobs_.push_back(
          {[layers = layers_, options = options_, folder, part, name = topic.name, store = store_,
            timeline = std::move(timeline)](const Database& connection) {
             return write_or_say(part, name, [&] {
               return write_timeline(connection, store, *folder, timeline, options);
             });
           },
           folder});
    }
    warn_missing(part, missing);
  }
  std::vector<ExportJob> take() { return std::move(jobs_); }

 private:
  const Database& db_;
  fs::path store_;
  const TimelineOptions& options_;
  std::vector<Cann5Timeline> topics_;
  std::shared_ptr<const Layers> layers_;
  std::vector<ExportJob> jobs_;
};

}  // namespace

std::vector<ExportJob> plan_cann5_timelines(const TraceDb& store, const fs::path& base,
                                            const TimelineOptions& options) {
  const Database& db = store.database();
  TimelinePlanner planner(store, options);
  const bool is_all = names_all(options.layers);
  Folders folders(db, base, "timeline", "timeline");
  const auto whole = folders.of_capture(is_all && options.scope.devices.empty());
  for (const DevicePart& part : split_by_device(db, options.scope)) {
    planner.plan(part, Cann5Folder::device, folders.find(part, is_all));
    planner.plan(part, Cann5Folder::capture, whole);
  }
  const DevicePart host = host_part(options.scope);
  planner.plan(host, Cann5Folder::host, folders.find(host, is_all));
  return planner.take();
}

}  // namespace msprof
