// SummaryFile: one table, and how it is written as a file.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "export/exporter.hpp"
#include "export/product_folder.hpp"
#include "export/summary_table.hpp"

namespace msprof {

using SummaryTables = std::vector<std::unique_ptr<SummaryTable>>;

// Returns the exported tables of `tables` that are in `names`; if it is empty, those that are
// exported by default. Throws Error(usage), with the valid names, for an unknown name.
SummaryTables tables_named(SummaryTables tables, const std::vector<std::string>& names);

// Differs from the extension of timelines, so that neither a name nor a viewer confuses the two.
inline constexpr const char* kJsonTableExtension = ".table.json";

struct SummaryFile {
  const SummaryTable* table = nullptr;
  OutputFile output_file;
  std::string file_name;
  std::shared_ptr<const RowListener> listener{};
  bool has_cann8_names = false;
};

// Returns the name that the ledger of a folder uses for tables in that format.
std::string ledger_kind(SummaryFormat format);

// Writes the file, or its slices of a million rows; all appear when the last is complete. Writes no
// file if output_file.scope is a part of the capture and the table has no row in it.
std::vector<ExportedFile> write_summary(const Database& db, ProductFolder& folder,
                                        SummaryFormat format, const SummaryFile& file);

// For plan_summaries(): `--style cann5` has a file per topic and device, in device_N/summary, named
// <topic>_<device>[_<model>_<iteration>].
std::vector<ExportJob> plan_cann5_summaries(const TraceDb& store, const std::filesystem::path& base,
                                            const SummaryOptions& options);

}  // namespace msprof
