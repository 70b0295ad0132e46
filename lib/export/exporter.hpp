// Exporter: the products of a store as files. For the verbs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "store/trace_db.hpp"

namespace msprof {

enum class SummaryFormat { csv, json };

struct ExportedFile {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
};

// Writes every timeline whose data exists into `folder`; each file appears when it is whole.
std::vector<ExportedFile> export_timelines(const TraceDb& store,
                                           const std::filesystem::path& folder);

// Throws Error(usage), with the valid names, unless every name is that of a table of some dialect.
bool is_summary_name(const std::string& name);
void check_summary_names(const std::vector<std::string>& names);

// Writes the tables named (all when empty). Throws Error(usage) for an unknown name, with the valid
// ones.
std::vector<ExportedFile> export_summaries(const TraceDb& store,
                                           const std::filesystem::path& folder,
                                           SummaryFormat format,
                                           const std::vector<std::string>& names);

// Products in `folder` that are older than the store and not among those just written: they show
// data that an earlier import had.
std::vector<std::filesystem::path> outdated_products(const TraceDb& store,
                                                     const std::filesystem::path& folder,
                                                     const std::vector<ExportedFile>& written);

// Products that would have no file: names of tables and layers without data.
std::vector<std::string> empty_products(const Database& db);

}  // namespace msprof
