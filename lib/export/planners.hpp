// TimelineFile: the layers of one timeline. SummaryFile: one table as a file. Shared by the
// planners of timeline_exporter.cpp, summary_exporter.cpp and cann5_exporter.cpp.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "export/exporter.hpp"
#include "export/scope/export_files.hpp"
#include "export/table/summary_table.hpp"
#include "export/trace/timeline_layer.hpp"
#include "export/trace/timeline_pieces.hpp"

namespace msprof {

inline constexpr std::string_view kAllLayers = "all";

struct TimelineFile {
  OutputFile output_file;  // of the first layer
  std::vector<std::pair<const TimelineLayer*, OutputFile>> layers;
  std::string file_name;

  void write(const Database& db, TraceJsonWriter& out) const;
  // The same in chunks.
  std::vector<LayerPiece> pieces(const Database& db) const;
};

// Returns true if `layers`, the value of --layers, selects all of them.
bool names_all(const std::vector<std::string>& layers);

// Returns ".json", ".json.gz" or ".perfetto-trace".
std::string timeline_extension(const TimelineOptions& options);

// Writes the file, or its parts for --split; all appear when the last is complete. Writes no file
// if there is no event. `store` is the path of the store, for further connections.
std::vector<ExportedFile> write_timeline(const Database& db, const std::filesystem::path& store,
                                         ProductFolder& folder, const TimelineFile& timeline,
                                         const TimelineOptions& options);

using SummaryTables = std::vector<std::unique_ptr<SummaryTable>>;

// Returns the exported tables of `tables` that are in `names`, or all if it is empty. Throws
// Error(usage), with the valid names, for an unknown name.
SummaryTables tables_named(SummaryTables tables, const std::vector<std::string>& names);

// Differs from the extension of timelines, so that neither a name nor a viewer confuses the two.
inline constexpr const char* kJsonTableExtension = ".table.json";

struct SummaryFile {
  const SummaryTable* table = nullptr;
  OutputFile output_file;
  std::string file_name;
  std::string former_name{};  // of a JSON table in earlier versions
  std::shared_ptr<const RowListener> listener{};
  bool has_cann8_names = false;
};

// Returns the name that CANN 5 to 8.5 use for a current column.
std::string_view cann8_column(std::string_view column);

// Returns the name that the ledger of a folder uses for tables in that format.
std::string kind_of(SummaryFormat format);

// Writes the file, or its slices of a million rows; all appear when the last is complete. Writes no
// file if output_file.scope is a part of the capture and the table has no row in it.
std::vector<ExportedFile> write_summary(const Database& db, ProductFolder& folder,
                                        SummaryFormat format, const SummaryFile& file);

// Planners of `--style cann5`: a file per topic and device, in device_N/timeline and
// device_N/summary, named <topic>_<device>[_<model>_<iteration>]. For plan_summaries() and
// plan_timelines().

std::vector<ExportJob> plan_cann5_summaries(const TraceDb& store, const std::filesystem::path& base,
                                            const SummaryOptions& options);
std::vector<ExportJob> plan_cann5_timelines(const TraceDb& store, const std::filesystem::path& base,
                                            const TimelineOptions& options);

}  // namespace msprof
