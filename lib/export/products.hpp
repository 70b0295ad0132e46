// The timeline layers and summary tables of products.def. For exporters, `show`, the verdict and
// the doctor.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "export/exporter.hpp"
#include "export/table/summary_table.hpp"
#include "export/trace/timeline_layer.hpp"

namespace msprof {

// All products of the current style, independent of a capture.
std::vector<std::unique_ptr<SummaryTable>> all_summary_tables();
std::vector<std::unique_ptr<TimelineLayer>> all_timeline_layers();

// Products for the dialect of the store of `db`; only products.cpp decides by the dialect.
std::vector<std::unique_ptr<SummaryTable>> summary_tables(const Database& db);
std::vector<std::unique_ptr<TimelineLayer>> timeline_layers(const Database& db);

// Return the folder within a capture for tables, or timelines, named as users of its dialect
// expect.
std::string summary_folder(const Database& db);
std::string timeline_folder(const Database& db);
// Return true if the dialect has a unified database, or if its timelines are several files that can
// be merged.
bool has_unified_db(const Database& db);
bool has_merged_timeline(const Database& db);

// Returns true for a capture of CANN 5 or older, whose default style is that of its version.
bool is_old_capture(const Database& db);
// Resolves of_capture to the style of the capture; returns every other style unchanged.
ExportStyle style_for(const Database& db, ExportStyle style);
// Returns the folder `name` ("summary" or "timeline") of `--style cann5` for `part` ("device_0",
// "host") of a capture: inside a folder named after the part, except in a JOB folder, which is a
// single device.
std::filesystem::path cann5_folder(const Database& db, const std::filesystem::path& base,
                                   const std::string& part, const std::string& name);

// Throws Error(usage) if `scope` or `style` is only valid for the other dialect.
void check_style(const Database& db, const ExportScope& scope, ExportStyle style);

// Returns true if a product of any dialect and style can have this name.
bool is_product_name(const std::string& name);

// Returns the tables of `--style cann5` as CANN 5 wrote them, in order, named after the topics.
// `generation` is that of a capture of CANN 5 or older, else empty; "all" includes the tables of
// every generation.
std::vector<std::unique_ptr<SummaryTable>> cann5_tables(std::string_view generation = {});
// Returns the tables that the capture's own version exports by default.
std::vector<std::unique_ptr<SummaryTable>> default_tables(const Database& db);
// Returns true if captures of this version have the table; always true for a newer capture. Used so
// that an old capture is not reported to have missing tables.
bool is_of_its_time(const Database& db, const TableInfo& table);
// Returns meta "generation"; empty for current captures.
std::string generation_of(const Database& db);
// Wraps `table`: removes Device_id and uses the column names and units of CANN 5.
std::unique_ptr<SummaryTable> make_cann5_table(std::unique_ptr<SummaryTable> table);

// A timeline of `--style cann5`: a file per device with the layers that name it. If
// OutputFile.is_cann5 is set, each layer draws as CANN 5 did.
struct Cann5Timeline {
  std::string_view name;
  std::int64_t key = 0;  // OutputFile.key
  Cann5Folder folder = Cann5Folder::device;
  std::vector<std::string_view> layers{};  // empty: the default layers
  ProductAge age = ProductAge::today;      // of the layers
};
std::vector<Cann5Timeline> cann5_timelines(ProductAge age = ProductAge::today);
// How old the capture of a store is.
ProductAge age_of(std::string_view generation);
// Returns the layers that draw the timelines of captures of `age`.
std::vector<std::unique_ptr<TimelineLayer>> cann5_layers(const Database& db, ProductAge age);

#define TABLE(name) std::unique_ptr<SummaryTable> make_##name();
#define LAYER(name) std::unique_ptr<TimelineLayer> make_##name();
#include "export/products.def"
#undef TABLE
#undef LAYER

}  // namespace msprof
