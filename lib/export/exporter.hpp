// Exporter: the products of a store as files. For the verbs.
// Products are planned first, as jobs, and then written by two threads.
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
#include "export/export_scope.hpp"
#include "store/trace_db.hpp"

namespace msprof {

// For Excel: CSV with a byte order mark, without which it does not read UTF-8.
enum class SummaryFormat { csv, csv_for_excel, json };

// Names and arrangement of files.
enum class ExportStyle {
  of_capture,  // that of its time: cann5 for captures of CANN 5 and older, else current
  current,
  cann5,  // a file a topic and device, in device_N/timeline and device_N/summary
  cann8,  // the current one with names of CANN 8.0 to 8.5: Block Dim, blockDim
};

// Takes the rows of a table while its file is written, so that the table is read once.
struct RowListener {
  std::string table;
  // A sink for the rows of one file, which goes before `db` does; its end() comes behind the last.
  std::function<std::unique_ptr<RowSink>(const Database& db)> listen;
  // Set by plan_summaries(): a job of its will give the rows. Else, where the table is not one
  // file or the style is another, nobody does.
  bool is_heard = false;
};

struct SummaryOptions {
  SummaryFormat format = SummaryFormat::csv;
  std::vector<std::string> names{};  // of tables; empty: all
  ExportScope scope{};
  ExportStyle style = ExportStyle::of_capture;
  std::shared_ptr<RowListener> listener{};
};

enum class TimelineFormat {
  json,      // of chrome://tracing
  perfetto,  // protobuf
};

struct TimelineOptions {
  std::vector<std::string> layers{};  // empty: those that are written by default; "all": all
  ExportScope scope{};
  ExportStyle style = ExportStyle::of_capture;
  std::uint64_t split_bytes = 0;  // 0: one file; else several, each a stretch of time
  bool gzip = false;
  TimelineFormat format = TimelineFormat::json;  // protobuf: neither split nor gzip
  bool is_merged = false;  // all files of a board's capture as one, with arrows between them
  // Every end of an arrow is 'f', as the vendor's tool writes them and torch_npu reads them; else
  // only the last, which is all that viewers draw.
  bool ends_every_arrow = false;
};

struct ExportedFile {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  // Of a timeline as JSON: bytes that a viewer has to read, uncompressed.
  std::uint64_t text_bytes = 0;
};

class ProductFolder;
class TraceSink;

// One file, or the slices of one: a job makes its folder, writes, and names what it wrote. What
// earlier exports left in that folder goes when all jobs are done.
struct ExportJob {
  std::function<std::vector<ExportedFile>(const Database&)> write;
  std::shared_ptr<ProductFolder> folder{};
  // Asked for once all are done without an error, in the place of what write() gave: files that
  // another job wrote, or the last. May be empty.
  std::function<std::vector<ExportedFile>()> written{};
};

// Into `base`, a capture or what takes its place (--output): the jobs for its tables, its
// timelines, its unified database. Throw Error(usage), with the valid names, for a name that is
// none.
std::vector<ExportJob> plan_summaries(const TraceDb& store, const std::filesystem::path& base,
                                      const SummaryOptions& options);
std::vector<ExportJob> plan_timelines(const TraceDb& store, const std::filesystem::path& base,
                                      const TimelineOptions& options);
std::vector<ExportJob> plan_unified_db(const TraceDb& store, const std::filesystem::path& base,
                                       ExportStyle style = ExportStyle::of_capture);
// Adds to `jobs` the files that msserviceprofiler looks for in an exported capture:
// host/sqlite/msproftx.db, the ranges that the application named, and host/data/all_file.complete.
// Adds nothing if `base` is not the capture itself.
void add_service_files(std::vector<ExportJob>& jobs, const TraceDb& store,
                       const std::filesystem::path& base);

// All of them, summaries in the style of the timelines; the longest first.
std::vector<ExportJob> plan_all(const TraceDb& store, const std::filesystem::path& base,
                                const TimelineOptions& timeline = {},
                                SummaryFormat format = SummaryFormat::csv,
                                const std::shared_ptr<RowListener>& listener = {});

// Writes all; files appear when all are whole and on the disk. The result is in the order of the
// jobs; after an error no further job is begun, and what is whole appears. Then what they replace
// of earlier exports is removed (ProductFolder::retire).
std::vector<ExportedFile> run_export_jobs(const TraceDb& store, const std::vector<ExportJob>& jobs);

// Plans and writes.
std::vector<ExportedFile> export_summaries(const TraceDb& store, const std::filesystem::path& base,
                                           const SummaryOptions& options);
std::vector<ExportedFile> export_timelines(const TraceDb& store, const std::filesystem::path& base,
                                           const TimelineOptions& options);

// The events of the timeline of the whole capture, its default layers, in `scope`; a board's files
// are merged. The sink gets the text of a TraceJsonWriter (trace_events.hpp).
void write_timeline_events(const Database& db, const ExportScope& scope, TraceSink& sink);

// Throws Error(usage), with the valid names, unless every name is that of a table (a layer) of some
// dialect and style.
bool is_summary_name(const std::string& name);
void check_summary_names(const std::vector<std::string>& names);
void check_layer_names(const std::vector<std::string>& names);

// Names the viewer that cannot open a timeline of so much text; empty if all can.
std::string viewer_limit(std::uint64_t text_bytes);

// Products beside those just written that are older than the store and not among them: they show
// data that an earlier import had.
std::vector<std::filesystem::path> outdated_products(const TraceDb& store,
                                                     const std::vector<ExportedFile>& written);

// Products that would have no file: names of tables and layers without data. Those of counters only
// where `kinds`, the raw kinds that were read, has one that they need.
std::vector<std::string> empty_products(const Database& db, const std::set<std::string>& kinds);

}  // namespace msprof
