// Writes timelines as files: layers that share a file, parts for --split, gzip.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "export/planners.hpp"
#include "export/products.hpp"
#include "export/trace/perfetto_sink.hpp"

namespace msprof {

namespace {

// TimeHistogram: bytes of a timeline by start time, in bounded memory. For --split.

class TimeHistogram {
 public:
  void add(std::int64_t time_ns, std::uint64_t bytes);
  std::uint64_t bytes() const { return bytes_; }

  // Returns the times at which to cut so that no part has more than `most` bytes, unless a single
  // bucket has more. Part i starts at cuts[i - 1].
  std::vector<std::int64_t> cuts(std::uint64_t most) const;

 private:
  void widen();

  static constexpr std::size_t kMaxStretches = 1 << 16;
  int shift_ = 10;  // a bucket is 2^shift_ ns
  std::uint64_t bytes_ = 0;
  std::unordered_map<std::int64_t, std::uint64_t> stretches_;
};

void TimeHistogram::add(std::int64_t time_ns, std::uint64_t bytes) {
  bytes_ += bytes;
  stretches_[time_ns >> shift_] += bytes;
  while (stretches_.size() > kMaxStretches) widen();
}

void TimeHistogram::widen() {
  ++shift_;
  std::unordered_map<std::int64_t, std::uint64_t> wider;
  for (const auto& [stretch, bytes] : stretches_) wider[stretch >> 1] += bytes;
  stretches_ = std::move(wider);
}

std::vector<std::int64_t> TimeHistogram::cuts(std::uint64_t most) const {
  std::vector<std::int64_t> cuts;
  std::uint64_t bytes = 0;
  for (const auto& [stretch, more] : std::map(stretches_.begin(), stretches_.end())) {
    if (bytes > 0 && bytes + more > most) {
      cuts.push_back(stretch * (std::int64_t{1} << shift_));
      bytes = 0;
    }
    bytes += more;
  }
  return cuts;
}

namespace fs = std::filesystem;

using Layers = std::vector<std::unique_ptr<TimelineLayer>>;

// All parts are open at the same time.
constexpr std::size_t kMaxParts = 256;
constexpr std::size_t kPartBlockBytes = 64 << 10;

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

// Finds where to cut a timeline so that its parts have at most `most` bytes, by writing it to a
// sink that only counts.
std::vector<std::int64_t> cuts_of(const Database& db, const TimelineFile& timeline,
                                  std::uint64_t most) {
  TimeHistogram histogram;
  CountingSink sink;
  TraceJsonWriter writer(sink);
  writer.set_meter([&](std::int64_t time_ns, std::size_t bytes) { histogram.add(time_ns, bytes); });
  timeline.write(db, writer);
  if (sink.text_bytes() <= most) return {};
  // Every part repeats the names of processes and threads.
  const std::uint64_t metadata = sink.text_bytes() - histogram.bytes();
  auto cuts =
      metadata < most ? histogram.cuts(most - metadata) : std::vector<std::int64_t>(kMaxParts, 0);
  if (cuts.size() >= kMaxParts) {
    throw Error(Exit::usage,
                fmt::format("--split {} would make more than {} files of {}; give at least {}",
                            human_bytes(most), kMaxParts, timeline.file_name,
                            human_bytes(metadata + histogram.bytes() / (kMaxParts / 2))));
  }
  return cuts;
}

// The files of one timeline while they are written; no file appears before all are complete.
class TimelineParts {
 public:
  TimelineParts(const fs::path& folder, const TimelineFile& timeline, std::size_t count,
                const TimelineOptions& options)
      : is_json_(options.format == TimelineFormat::json) {
    for (std::size_t part = 0; part < count; ++part) {
      const std::string name = count == 1
                                   ? timeline.file_name
                                   : limited_file_name(slice_stem(timeline.output_file, part),
                                                       timeline_extension(options));
      files_.push_back(std::make_unique<AtomicFile>(folder / name));
      sinks_.push_back(make_sink(*files_.back(), options));
    }
  }

  std::vector<TraceSink*> sinks() const {
    std::vector<TraceSink*> all;
    for (const auto& sink : sinks_) all.push_back(sink.get());
    return all;
  }

  std::vector<ExportedFile> publish(ProductFolder& folder, const std::string& product) {
    std::vector<ExportedFile> written;
    for (std::size_t part = 0; part < files_.size(); ++part) {
      const AtomicFile& file = *files_[part];
      const std::uint64_t text_bytes = is_json_ ? sinks_[part]->text_bytes() : 0;
      written.push_back({file.target(), file.bytes_written(), text_bytes});
    }
    folder.publish(product, std::move(files_));
    return written;
  }

 private:
  static std::unique_ptr<TraceSink> make_sink(AtomicFile& file, const TimelineOptions& options) {
    if (options.format == TimelineFormat::perfetto) return make_perfetto_sink(file);
    if (options.gzip) return make_gzip_sink(file);
    return std::make_unique<PlainSink>(file);
  }

  bool is_json_;
  std::vector<std::unique_ptr<AtomicFile>> files_;
  std::vector<std::unique_ptr<TraceSink>> sinks_;
};

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

}  // namespace

bool names_all(const std::vector<std::string>& layers) {
  return layers.empty() || std::find(layers.begin(), layers.end(), kAllLayers) != layers.end();
}

std::string timeline_extension(const TimelineOptions& options) {
  if (options.format == TimelineFormat::perfetto) return ".perfetto-trace";
  return options.gzip ? ".json.gz" : ".json";
}

namespace {

// The tools of CANN 5 and older show times of the monotonic clock.
std::int64_t origin_of(const Database& db, const OutputFile& output_file) {
  if (!output_file.is_cann5) return 0;
  return read_meta_integer(db, "clock.wall_offset_ns").value_or(0);
}

}  // namespace

void TimelineFile::write(const Database& db, TraceJsonWriter& out) const {
  for (const LayerPiece& one : pieces(db)) {
    out.set_origin(one.origin_ns);
    out.set_min_duration(one.min_duration_ns);
    one.piece.write(db, out);
  }
  out.finish();
}

std::vector<LayerPiece> TimelineFile::pieces(const Database& db) const {
  const auto share = std::make_shared<LayerShare>();
  const std::int64_t origin_ns = origin_of(db, output_file);
  std::vector<LayerPiece> all;
  for (const auto& [layer, layer_document] : layers) {
    OutputFile shared = layer_document;
    shared.share = share;
    for (TimelinePiece& piece : layer->pieces(db, shared))
      all.push_back({std::move(piece), origin_ns, shared.scope.min_duration_ns});
  }
  return all;
}

namespace {

// More threads would wait for the disk.
constexpr std::size_t kMaxThreads = 16;

// If each layer is one chunk, one thread: another connection would cost more than it gains.
std::size_t thread_count(std::size_t pieces, std::size_t layers) {
  if (pieces <= layers) return 1;
  return std::min<std::size_t>(kMaxThreads, std::max(1U, std::thread::hardware_concurrency()));
}

PieceCounts write_whole(const Database& db, const fs::path& store, const TimelineFile& timeline,
                        TraceSink& sink) {
  const auto pieces = timeline.pieces(db);
  return write_pieces(
      db, pieces, thread_count(pieces.size(), timeline.layers.size()),
      [&] { return TraceDb::open(store); }, sink);
}

}  // namespace

std::vector<ExportedFile> write_timeline(const Database& db, const fs::path& store,
                                         ProductFolder& folder, const TimelineFile& timeline,
                                         const TimelineOptions& options) {
  std::vector<std::int64_t> cuts;
  if (options.split_bytes > 0) cuts = cuts_of(db, timeline, options.split_bytes);
  TimelineParts parts(folder.make(), timeline, cuts.size() + 1, options);
  PieceCounts counts;
  std::uint64_t arrows = 0;
  std::uint64_t cut_arrows = 0;
  if (cuts.empty()) {
    counts = write_whole(db, store, timeline, *parts.sinks().front());
  } else {
    TraceJsonWriter writer(parts.sinks(), cuts, kPartBlockBytes);
    timeline.write(db, writer);
    counts = {writer.event_count(), writer.slice_count()};
    arrows = writer.arrow_count();
    cut_arrows = writer.cut_arrow_count();
  }
  // A range without slices gets no file, even if a frequency sample lies in it, unless layers were
  // named.
  const bool is_part = options.layers.empty() && !options.scope.is_everything();
  if ((is_part ? counts.slices : counts.events) == 0) return {};
  auto written = parts.publish(folder, timeline.output_file.product);
  const auto too_large = std::count_if(written.begin(), written.end(), [&](const auto& file) {
    return options.split_bytes > 0 && file.text_bytes > options.split_bytes;
  });
  if (too_large > 0) {
    log::warn("{}: {} larger than --split allows: too much happens at one moment",
              timeline.output_file.stem,
              too_large == 1 ? "1 part is" : fmt::format("{} parts are", too_large));
  }
  if (cut_arrows > 0) {
    log::info("{}: {} of {} arrows are cut: they end in another part than they start in",
              timeline.output_file.stem, with_thousands(cut_arrows), with_thousands(arrows));
  }
  return written;
}

void check_layer_names(const std::vector<std::string>& names) {
  auto others = names;
  std::erase_if(others, [](const std::string& name) {
    const auto topics = cann5_timelines();
    return std::any_of(topics.begin(), topics.end(),
                       [&](const auto& topic) { return topic.name == name; });
  });
  layers_named(all_timeline_layers(), others);
}

namespace {

void check_merged(const Database& db, const TimelineOptions& options) {
  if (options.is_merged && !has_merged_timeline(db)) {
    throw Error(Exit::usage,
                "--merged is for captures of boards (JOB…); the timeline of this one (PROF…) is "
                "one file already: leave it out");
  }
}

// Returns the name that the ledger of a folder uses for timelines in that format.
std::string kind_of(TimelineFormat format) {
  return format == TimelineFormat::perfetto ? "perfetto" : "timeline";
}

}  // namespace

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
      product_folder(base, timeline_folder(db)), kind_of(options.format),
      names_all(options.layers) && options.scope.devices.empty());
  std::vector<ExportJob> jobs;
  for (TimelineFile& timeline : timeline_files(db, *layers, options)) {
    folder->claim(timeline.output_file.product);
    jobs.push_back({[layers, folder, options, path = store.path(),
                     timeline = std::move(timeline)](const Database& connection) {
                      return write_timeline(connection, path, *folder, timeline, options);
                    },
                    folder});
  }
  return jobs;
}

void write_timeline_events(const Database& db, const ExportScope& scope, TraceSink& sink) {
  TimelineOptions options;
  options.scope = scope;
  options.is_merged = has_merged_timeline(db);
  const Layers layers = layers_named(timeline_layers(db), {});
  const auto files = timeline_files(db, layers, options);
  // The file with the most layers; others are for single layers.
  const auto whole = std::max_element(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return a.layers.size() < b.layers.size();
  });
  if (whole == files.end()) return sink.finish();
  TraceJsonWriter writer(sink);
  whole->write(db, writer);
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
