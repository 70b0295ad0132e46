// Exporter: writes the products of a store as files. Products are planned first, as jobs, and then
// written by two threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/row_sink.hpp"
#include "export/scope/export_scope.hpp"
#include "export/scope/export_style.hpp"
#include "store/trace_db.hpp"

namespace msprof {

// csv_for_excel has a byte order mark; without it Excel does not read UTF-8.
enum class SummaryFormat { csv, csv_for_excel, json };

// Receives the rows of a table while its file is written, so that the table is read only once.
struct RowListener {
  std::string table;
  // Returns a sink for the rows of one file. It is destroyed before `db`; its end() follows the
  // last row.
  std::function<std::unique_ptr<RowSink>(const Database& db)> listen;
  // Set by plan_summaries() if a job will deliver the rows. Not set if the table has several files
  // or another style applies.
  bool is_heard = false;
};

struct SummaryOptions {
  SummaryFormat format = SummaryFormat::csv;
  std::vector<std::string> names{};  // names of tables; empty: all
  ExportScope scope{};
  ExportStyle style = ExportStyle::of_capture;
  std::shared_ptr<RowListener> listener{};
};

enum class TimelineFormat {
  json,      // for chrome://tracing
  perfetto,  // protobuf
};

struct TimelineOptions {
  std::vector<std::string> layers{};  // empty: default; "all": every layer
  ExportScope scope{};
  ExportStyle style = ExportStyle::of_capture;
  std::uint64_t split_bytes = 0;  // 0: one file; else several, each for a time range
  bool gzip = false;
  TimelineFormat format = TimelineFormat::json;  // perfetto: split_bytes and gzip are not supported
  bool is_merged = false;  // all files of a board's capture as one, with arrows between them
  // True: every end of an arrow has phase 'f', as in the vendor's files, which torch_npu reads.
  // False: only the last end has phase 'f'; viewers draw no other.
  bool ends_every_arrow = false;
};

struct ExportedFile {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  // JSON timelines: uncompressed bytes, which a viewer has to read.
  std::uint64_t text_bytes = 0;
};

class ProductFolder;
class TraceWriter;

// Writes one file, or the slices of one: creates its folder, writes, and returns what it wrote.
// Files of earlier exports in that folder are removed when all jobs are done.
struct ExportJob {
  std::function<std::vector<ExportedFile>(const Database&)> write;
  std::shared_ptr<ProductFolder> folder{};
  // If set, called after all jobs have succeeded; its result replaces that of write(). For files
  // that another job writes, or that must be written last.
  std::function<std::vector<ExportedFile>()> written{};
};

// Return the jobs that write tables, timelines or the unified database to `base`: the capture, or
// the folder of --output. Throw Error(usage), with the valid names, for an unknown name.
std::vector<ExportJob> plan_summaries(const TraceDb& store, const std::filesystem::path& base,
                                      const SummaryOptions& options);
std::vector<ExportJob> plan_timelines(const TraceDb& store, const std::filesystem::path& base,
                                      const TimelineOptions& options);
std::vector<ExportJob> plan_unified_db(const TraceDb& store, const std::filesystem::path& base,
                                       ExportStyle style = ExportStyle::of_capture);
// Adds jobs for the files that msserviceprofiler expects in an exported capture:
// host/sqlite/msproftx.db (ranges named by the application) and host/data/all_file.complete. Adds
// no job if `base` is not the capture itself.
void add_service_files(std::vector<ExportJob>& jobs, const TraceDb& store,
                       const std::filesystem::path& base);

// Returns all of these jobs, summaries in the style of the timelines; the longest jobs first.
std::vector<ExportJob> plan_all(const TraceDb& store, const std::filesystem::path& base,
                                const TimelineOptions& timeline = {},
                                SummaryFormat format = SummaryFormat::csv,
                                const std::shared_ptr<RowListener>& listener = {});

// Runs all jobs; files appear once all are complete and on disk. Results are in the order of the
// jobs. After an error, starts no further job, but complete files appear. Then removes the replaced
// files of earlier exports (ProductFolder::retire).
std::vector<ExportedFile> run_export_jobs(const TraceDb& store, const std::vector<ExportJob>& jobs);

// Plan and run.
std::vector<ExportedFile> export_summaries(const TraceDb& store, const std::filesystem::path& base,
                                           const SummaryOptions& options);
std::vector<ExportedFile> export_timelines(const TraceDb& store, const std::filesystem::path& base,
                                           const TimelineOptions& options);

// Writes the default timeline of the whole capture, limited to `scope`, to `out`; files of a
// board's capture are merged.
void write_timeline_events(const Database& db, const ExportScope& scope, TraceWriter& out);

// True if the name exists in some dialect and style. The checks throw Error(usage), with the valid
// names, unless this is true for all names (of tables or layers).
bool is_summary_name(const std::string& name);
void check_summary_names(const std::vector<std::string>& names);
void check_layer_names(const std::vector<std::string>& names);

// Returns a text such as "too large for chrome://tracing" if a viewer cannot open so much text;
// else empty.
std::string viewer_limit(std::uint64_t text_bytes);

// Returns outdated products: files next to those just written that are older than the store. They
// show data of an earlier import.
std::vector<std::filesystem::path> outdated_products(const TraceDb& store,
                                                     const std::vector<ExportedFile>& written);

// Returns the names of tables and layers without data, which get no file. Counter products are
// included only if they need one of `kinds`, the raw kinds that were read.
std::vector<std::string> empty_products(const Database& db, const std::set<std::string>& kinds);

}  // namespace msprof
