// TimelineFile, SummaryFile: what the planners of timeline_exporter.cpp, summary_exporter.cpp and
// cann5_exporter.cpp share.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "export/export_files.hpp"
#include "export/exporter.hpp"
#include "export/summary_table.hpp"
#include "export/timeline_layer.hpp"
#include "export/timeline_pieces.hpp"

namespace msprof {

// TimelineFile: the layers that draw one timeline. For the planners of timeline_exporter.cpp and
// cann5_exporter.cpp.

// The word that stands for all layers.
inline constexpr std::string_view kAllLayers = "all";

struct TimelineFile {
  OutputFile output_file;  // of the first layer
  std::vector<std::pair<const TimelineLayer*, OutputFile>> layers;
  std::string file_name;

  void write(const Database& db, TraceJsonWriter& out) const;
  // The same as pieces.
  std::vector<LayerPiece> pieces(const Database& db) const;
};

// True if --layers, as given, leaves none out.
bool names_all(const std::vector<std::string>& layers);

// ".json", ".json.gz" or ".perfetto-trace".
std::string timeline_extension(const TimelineOptions& options);

// The file, or its parts for --split, all when the last is whole; none without any event. `store`:
// path of the store, for further connections.
std::vector<ExportedFile> write_timeline(const Database& db, const std::filesystem::path& store,
                                         ProductFolder& folder, const TimelineFile& timeline,
                                         const TimelineOptions& options);

// SummaryFile: one table as a file. For the planners of summary_exporter.cpp and
// cann5_exporter.cpp.

using SummaryTables = std::vector<std::unique_ptr<SummaryTable>>;

// The exported ones of `tables` that are named, all when none is; throws Error(usage), with the
// valid names, for a name that is none of them.
SummaryTables tables_named(SummaryTables tables, const std::vector<std::string>& names);

// Tables as JSON are no timelines: neither a name nor a viewer may take one for the other.
inline constexpr const char* kJsonTableExtension = ".table.json";

struct SummaryFile {
  const SummaryTable* table = nullptr;
  OutputFile output_file;
  std::string file_name;
  std::string former_name{};  // of a table as JSON in earlier versions
  std::shared_ptr<const RowListener> listener{};
  bool has_cann8_names = false;
};

// The name that CANN 5 to 8.5 had for a column of today.
std::string_view cann8_column(std::string_view column);

// Name that the ledger of a folder has for tables of that format.
std::string kind_of(SummaryFormat format);

// The file, or its slices of a million rows, which all appear when the last is whole. None where
// document.scope is a part of the capture for which the table has no row.
std::vector<ExportedFile> write_summary(const Database& db, ProductFolder& folder,
                                        SummaryFormat format, const SummaryFile& file);

// The planners of `--style cann5`: a file a topic and device, in device_N/timeline and
// device_N/summary, named <topic>_<device>[_<model>_<iteration>]. For plan_summaries() and
// plan_timelines().

std::vector<ExportJob> plan_cann5_summaries(const TraceDb& store, const std::filesystem::path& base,
                                            const SummaryOptions& options);
std::vector<ExportJob> plan_cann5_timelines(const TraceDb& store, const std::filesystem::path& base,
                                            const TimelineOptions& options);

}  // namespace msprof
