// The timeline layers and summary tables of products.def. For exporters, `show`, the verdict and
// the doctor.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "export/exporter.hpp"
#include "export/summary_table.hpp"
#include "export/timeline_layer.hpp"

namespace msprof {

// All of the current style, independent of any capture.
std::vector<std::unique_ptr<SummaryTable>> all_summary_tables();
std::vector<std::unique_ptr<TimelineLayer>> all_timeline_layers();

// Those of the dialect of the store of `db`; lib/export reads the dialect here only.
std::vector<std::unique_ptr<SummaryTable>> summary_tables(const Database& db);
std::vector<std::unique_ptr<TimelineLayer>> timeline_layers(const Database& db);

// The folder within a capture that takes its tables, and its timelines, named as users of its
// dialect know it.
std::string summary_folder(const Database& db);
std::string timeline_folder(const Database& db);
// True if its dialect has the unified database; if its timelines are several files that can be one.
bool has_unified_db(const Database& db);
bool has_merged_timeline(const Database& db);

// True for a capture of CANN 5 or older, whose default style is that of its time.
bool is_old_capture(const Database& db);
// What of_capture stands for; every other style is itself.
ExportStyle style_for(const Database& db, ExportStyle style);
// The folder "summary" or "timeline" of `--style cann5` for what is about `part` ("device_0",
// "host") of a capture: in a folder of that name, but a JOB folder, which is one device, has it
// itself.
std::filesystem::path cann5_folder(const Database& db, const std::filesystem::path& base,
                                   const std::string& part, const std::string& name);

// Throws Error(usage) where `scope` or `style` is only for the other dialect.
void check_style(const Database& db, const ExportScope& scope, ExportStyle style);

// True if a file of this name may be a product, of any dialect and style.
bool is_product_name(const std::string& name);

// The tables of `--style cann5`, in order, as CANN 5 wrote them; names are those of the topics.
// `generation`: of the capture, where it is of that time or older; "all": with those of all.
std::vector<std::unique_ptr<SummaryTable>> cann5_tables(std::string_view generation = {});
// The tables that a capture gives by default: of its own time, those that are exported.
std::vector<std::unique_ptr<SummaryTable>> default_tables(const Database& db);
// Whether a table is one of those that captures of the time of this one had; of a newer capture any
// is. An old capture that lacks another lacks nothing.
bool is_of_its_time(const Database& db, const TableInfo& table);
// The text of meta "generation"; empty for captures of today.
std::string generation_of(const Database& db);
// `table` without Device_id, with the column names and units of CANN 5.
std::unique_ptr<SummaryTable> make_cann5_table(std::unique_ptr<SummaryTable> table);

// A timeline of `--style cann5`: a file a device, of the layers that name it. Each layer draws as
// CANN 5 did where OutputFile.is_cann5.
struct Cann5Timeline {
  std::string_view name;
  std::int64_t key = 0;  // OutputFile.key
  Cann5Folder folder = Cann5Folder::device;
  std::vector<std::string_view> layers{};  // empty: those of the default
  ProductAge age = ProductAge::today;      // of the layers
};
std::vector<Cann5Timeline> cann5_timelines(ProductAge age = ProductAge::today);
// How old the capture of a store is.
ProductAge age_of(std::string_view generation);
// The layers that the timelines of captures of `age` are drawn by.
std::vector<std::unique_ptr<TimelineLayer>> cann5_layers(const Database& db, ProductAge age);

// The makers.
#define TABLE(name) std::unique_ptr<SummaryTable> make_##name();
#define LAYER(name) std::unique_ptr<TimelineLayer> make_##name();
#include "export/products.def"
#undef TABLE
#undef LAYER

}  // namespace msprof
