// SummaryFile: one table as a file. For the planners of summary_exporter.cpp and
// cann5_exporter.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "export/document.hpp"
#include "export/export_files.hpp"
#include "export/exporter.hpp"
#include "export/summary_table.hpp"

namespace msprof {

using SummaryTables = std::vector<std::unique_ptr<SummaryTable>>;

// The exported ones of `tables` that are named, all when none is; throws Error(usage), with the
// valid names, for a name that is none of them.
SummaryTables tables_named(SummaryTables tables, const std::vector<std::string>& names);

// Tables as JSON are no timelines: neither a name nor a viewer may take one for the other.
inline constexpr const char* kJsonTableExtension = ".table.json";

struct SummaryFile {
  const SummaryTable* table = nullptr;
  Document document;
  std::string file_name;
  std::string former_name{};  // of a table as JSON in earlier versions
};

// What the ledger of a folder calls tables of that format.
std::string kind_of(SummaryFormat format);

// The file, or its slices of a million rows, which all appear when the last is whole. None where
// document.scope is a part of the capture for which the table has no row.
std::vector<ExportedFile> write_summary(const Database& db, ProductFolder& folder,
                                        SummaryFormat format, const SummaryFile& file);

}  // namespace msprof
