// TimelineFile: the layers of one timeline, and how they are written as a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "export/exporter.hpp"
#include "export/product_folder.hpp"
#include "export/timeline_layer.hpp"
#include "export/trace/timeline_pieces.hpp"
#include "export/trace/trace_writer.hpp"

namespace msprof {

inline constexpr std::string_view kAllLayers = "all";

struct TimelineFile {
  OutputFile output_file;  // of the first layer
  std::vector<std::pair<const TimelineLayer*, OutputFile>> layers;
  std::string file_name;
  std::int64_t origin_ns = 0;  // TraceWriter::set_origin()

  void write(const Database& db, TraceWriter& out) const;
  // Returns the layers as chunks.
  std::vector<LayerPiece> pieces(const Database& db) const;
};

// Returns true if `layers`, the value of --layers, selects all of them.
bool names_all(const std::vector<std::string>& layers);

// Returns ".json", ".json.gz" or ".perfetto-trace".
std::string timeline_extension(const TimelineOptions& options);

// Writes the file, or its parts for --split; all appear when the last is complete. Writes no file
// if there is no event.
std::vector<ExportedFile> write_timeline(const Database& db, ProductFolder& folder,
                                         const TimelineFile& timeline,
                                         const TimelineOptions& options);

// For plan_timelines(): `--style cann5` has a file per topic and device, in device_N/timeline,
// named <topic>_<device>[_<model>_<iteration>].
std::vector<ExportJob> plan_cann5_timelines(const TraceDb& store, const std::filesystem::path& base,
                                            const TimelineOptions& options);

}  // namespace msprof
