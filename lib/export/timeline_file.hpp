// TimelineFile: the layers that draw one timeline. For the planners of timeline_exporter.cpp and
// cann5_exporter.cpp.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "export/document.hpp"
#include "export/export_files.hpp"
#include "export/exporter.hpp"
#include "export/timeline_layer.hpp"

namespace msprof {

// The word that stands for all layers.
inline constexpr std::string_view kAllLayers = "all";

struct TimelineFile {
  Document document;  // of the first layer
  std::vector<std::pair<const TimelineLayer*, Document>> layers;
  std::string file_name;

  void write(const Database& db, TraceJsonWriter& out) const;
};

// Whether --layers, as given, leaves none out.
bool names_all(const std::vector<std::string>& layers);

// ".json" or ".json.gz".
std::string timeline_extension(bool gzip);

// The file, or its parts for --split, all when the last is whole; none without any event.
std::vector<ExportedFile> write_timeline(const Database& db, ProductFolder& folder,
                                         const TimelineFile& timeline,
                                         const TimelineOptions& options);

}  // namespace msprof
