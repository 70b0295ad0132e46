// Plans the timelines of `--style cann5`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "export/exporter.hpp"
#include "export/old/parts.hpp"
#include "export/old/registry.hpp"
#include "export/old/trace.hpp"
#include "export/products.hpp"
#include "export/scope/export_style.hpp"
#include "export/trace/timeline_file.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace old {

namespace {

// Where a timeline is written. Source: cann_device.md 24.
enum class TopicFolder {
  device,   // device_N/timeline: one file per device
  host,     // host/timeline: for the whole capture, as device number 64
  capture,  // timeline: one file per device, with the host's calls
};

struct TopicLayer {
  std::unique_ptr<TimelineLayer> layer;
  Rows rows = Rows::selected;
};

struct Topic {
  std::string_view name;
  std::vector<TopicLayer> layers{};

  bool has_all_processes() const { return name == kAllProcesses; }
  TopicFolder folder() const {
    if (has_all_processes()) return TopicFolder::capture;
    return layers.front().rows == Rows::host ? TopicFolder::host : TopicFolder::device;
  }
};

using Topics = std::vector<Topic>;

// Returns the default layers; those in `replacements` replace the ones with their names.
std::vector<TopicLayer> default_layers(const Database& db, std::vector<TopicLayer> replacements) {
  std::vector<TopicLayer> all;
  for (auto& layer : timeline_layers(db)) {
    if (!layer->info().is_default) continue;
    const auto other = std::find_if(
        replacements.begin(), replacements.end(),
        [&](const TopicLayer& one) { return one.layer && one.layer->name() == layer->name(); });
    all.push_back(other == replacements.end() ? TopicLayer{std::move(layer)} : std::move(*other));
  }
  return all;
}

Topics make_topics(const Database& db, Age age) {
  Topics topics;
  for (const LayerEntry& entry : layers_of(age)) {
    if (topics.empty() || topics.back().name != entry.topic) topics.push_back({entry.topic});
    topics.back().layers.push_back({entry.make(), entry.rows});
  }
  if (age == Age::current)
    topics.back().layers = default_layers(db, std::move(topics.back().layers));
  return topics;
}

Topics topics_named(Topics topics, const std::vector<std::string>& names) {
  if (names_all(names)) return topics;
  const auto valid = cann5_timelines();
  for (const std::string& name : names) {
    if (std::find(valid.begin(), valid.end(), name) == valid.end()) {
      throw Error(Exit::usage, fmt::format("unknown timeline '{}' of --style cann5; valid: {}, {}",
                                           name, fmt::join(valid, ", "), kAllLayers));
    }
  }
  std::erase_if(topics, [&](const Topic& topic) {
    return std::find(names.begin(), names.end(), topic.name) == names.end();
  });
  return topics;
}

class TimelinePlanner {
 public:
  TimelinePlanner(const TraceDb& store, const TimelineOptions& options)
      : db_(store.database()),
        options_(options),
        age_(to_age(read_generation(db_))),
        topics_(
            std::make_shared<const Topics>(topics_named(make_topics(db_, age_), options.layers))) {}

  void plan(const DevicePart& part, TopicFolder place,
            const std::shared_ptr<ProductFolder>& folder) {
    std::vector<std::string_view> missing;
    for (const Topic& topic : *topics_) {
      if (topic.folder() != place) continue;
      TimelineFile timeline = make_timeline(topic, part);
      if (timeline.layers.empty()) {
        missing.push_back(topic.name);
        continue;
      }
      folder->claim(timeline.output_file.product);
      jobs_.push_back({[topics = topics_, options = options_, folder, part, name = topic.name,
                        timeline = std::move(timeline)](const Database& connection) {
                         return write_or_say(part, name, [&] {
                           return write_timeline(connection, *folder, timeline, options);
                         });
                       },
                       folder});
    }
    warn_missing(part, missing);
  }
  std::vector<ExportJob> take() { return std::move(jobs_); }

 private:
  // Returns the layers of a topic that have data.
  TimelineFile make_timeline(const Topic& topic, const DevicePart& part) const {
    TimelineFile timeline;
    timeline.output_file = make_output_file(topic.name, part);
    timeline.file_name = timeline.output_file.stem + timeline_extension(options_);
    // The tools of CANN 5 and older show times of the monotonic clock.
    timeline.origin_ns = read_meta_integer(db_, "clock.wall_offset_ns").value_or(0);
    for (const TopicLayer& one : topic.layers) {
      if (!one.layer->has_files(db_)) continue;
      OutputFile output_file = timeline.output_file;
      if (topic.has_all_processes() && age_ != Age::current) output_file.key = kWholeTimeline;
      if (one.rows != Rows::selected) output_file.scope = part.scope.without_iteration();
      timeline.layers.emplace_back(one.layer.get(), output_file);
    }
    return timeline;
  }

  const Database& db_;
  const TimelineOptions& options_;
  Age age_;
  std::shared_ptr<const Topics> topics_;
  std::vector<ExportJob> jobs_;
};

}  // namespace

}  // namespace old

std::vector<ExportJob> plan_cann5_timelines(const TraceDb& store, const fs::path& base,
                                            const TimelineOptions& options) {
  using namespace old;
  const Database& db = store.database();
  TimelinePlanner planner(store, options);
  const bool is_all = names_all(options.layers);
  Folders folders(db, base, "timeline", "timeline");
  const auto whole = folders.of_capture(is_all && options.scope.devices.empty());
  for (const DevicePart& part : split_by_device(db, options.scope)) {
    planner.plan(part, TopicFolder::device, folders.find(part, is_all));
    planner.plan(part, TopicFolder::capture, whole);
  }
  const DevicePart host = host_part(options.scope);
  planner.plan(host, TopicFolder::host, folders.find(host, is_all));
  return planner.take();
}

}  // namespace msprof
