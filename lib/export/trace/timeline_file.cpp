#include "export/trace/timeline_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "export/exporter.hpp"
#include "export/trace/perfetto_writer.hpp"
#include "export/trace/trace_json_writer.hpp"

namespace msprof {

namespace fs = std::filesystem;

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

// All parts are open at the same time.
constexpr std::size_t kMaxParts = 256;
constexpr std::size_t kPartBlockBytes = 64 << 10;

// Finds where to cut a timeline so that its parts have at most `most` bytes, by writing it to a
// sink that only counts.
std::vector<std::int64_t> find_cuts(const Database& db, const TimelineFile& timeline,
                                    std::uint64_t most) {
  TimeHistogram histogram;
  CountingSink sink;
  TraceJsonWriter writer(sink);
  writer.set_origin(timeline.origin_ns);
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
      : options_(options) {
    for (std::size_t part = 0; part < count; ++part) {
      const std::string name = count == 1
                                   ? timeline.file_name
                                   : limited_file_name(slice_stem(timeline.output_file, part),
                                                       timeline_extension(options));
      files_.push_back(std::make_unique<AtomicFile>(folder / name));
    }
  }

  AtomicFile& whole() const { return *files_.front(); }
  // For JSON.
  std::vector<TraceSink*> make_sinks() {
    std::vector<TraceSink*> all;
    for (const auto& file : files_) {
      sinks_.push_back(options_.gzip ? make_gzip_sink(*file) : std::make_unique<PlainSink>(*file));
      all.push_back(sinks_.back().get());
    }
    return all;
  }

  std::vector<ExportedFile> publish(ProductFolder& folder, const std::string& product) {
    std::vector<ExportedFile> written;
    for (std::size_t part = 0; part < files_.size(); ++part) {
      const AtomicFile& file = *files_[part];
      const std::uint64_t text_bytes = sinks_.empty() ? 0 : sinks_[part]->text_bytes();
      written.push_back({file.target(), file.bytes_written(), text_bytes});
    }
    folder.publish(product, std::move(files_));
    return written;
  }

 private:
  const TimelineOptions& options_;
  std::vector<std::unique_ptr<AtomicFile>> files_;
  std::vector<std::unique_ptr<TraceSink>> sinks_;
};

// If each layer is one chunk, uses one thread: another connection would cost more than it gains.
std::size_t thread_count(std::size_t pieces, std::size_t layers) {
  if (pieces <= layers) return 1;
  return core_count(kMaxChunkThreads);
}

PieceCounts write_perfetto(const Database& db, const std::vector<LayerPiece>& pieces,
                           std::size_t threads, AtomicFile& file) {
  const auto trace = make_perfetto_file(file);
  const PieceCounts counts = write_pieces(
      db, pieces, threads,
      [&](OrderedChunks& chunks, std::size_t piece) { return trace->make_writer(chunks, piece); });
  trace->finish();
  return counts;
}

}  // namespace

std::string timeline_extension(const TimelineOptions& options) {
  if (options.format == TimelineFormat::perfetto) return ".perfetto-trace";
  return options.gzip ? ".json.gz" : ".json";
}

void TimelineFile::write(const Database& db, TraceWriter& out) const {
  for (const LayerPiece& one : pieces(db)) {
    out.set_min_duration(one.min_duration_ns);
    one.piece.write(db, out);
  }
  out.finish();
}

std::vector<LayerPiece> TimelineFile::pieces(const Database& db) const {
  const auto share = std::make_shared<LayerShare>();
  std::vector<LayerPiece> all;
  for (const auto& [layer, layer_document] : layers) {
    OutputFile shared = layer_document;
    shared.share = share;
    for (TimelinePiece& piece : layer->pieces(db, shared))
      all.push_back({std::move(piece), origin_ns, shared.scope.min_duration_ns});
  }
  return all;
}

std::vector<ExportedFile> write_timeline(const Database& db, ProductFolder& folder,
                                         const TimelineFile& timeline,
                                         const TimelineOptions& options) {
  std::vector<std::int64_t> cuts;
  if (options.split_bytes > 0) cuts = find_cuts(db, timeline, options.split_bytes);
  TimelineParts parts(folder.make(), timeline, cuts.size() + 1, options);
  PieceCounts counts;
  std::uint64_t arrows = 0;
  std::uint64_t cut_arrows = 0;
  const bool is_perfetto = options.format == TimelineFormat::perfetto;
  if (is_perfetto || cuts.empty()) {
    const auto pieces = timeline.pieces(db);
    const std::size_t threads = thread_count(pieces.size(), timeline.layers.size());
    counts = is_perfetto ? write_perfetto(db, pieces, threads, parts.whole())
                         : write_pieces(db, pieces, threads, *parts.make_sinks().front());
  } else {
    TraceJsonWriter writer(parts.make_sinks(), cuts, kPartBlockBytes);
    writer.set_origin(timeline.origin_ns);
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

}  // namespace msprof
