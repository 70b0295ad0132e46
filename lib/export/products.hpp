// The timeline layers and summary tables of products.def. For exporters, `show`, the verdict and
// the doctor.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "export/summary_table.hpp"
#include "export/timeline_layer.hpp"

namespace msprof {

// All products of the current style, independent of a capture.
std::vector<std::unique_ptr<SummaryTable>> all_summary_tables();
std::vector<std::unique_ptr<TimelineLayer>> all_timeline_layers();

// Products for the dialect of the store of `db`; only products.cpp decides by the dialect.
std::vector<std::unique_ptr<SummaryTable>> summary_tables(const Database& db);
std::vector<std::unique_ptr<TimelineLayer>> timeline_layers(const Database& db);

// Returns true if a product of any dialect and style can have this name.
bool is_product_name(const std::string& name);

// Products of `--style cann5` and of old captures; defined in export/old.
// Returns the tables of `--style cann5` as CANN 5 wrote them, in order, named after the topics.
// `generation` is that of a capture of CANN 5 or older, else empty; "all" includes the tables of
// every generation.
std::vector<std::unique_ptr<SummaryTable>> cann5_tables(std::string_view generation = {});
// Returns true if captures of this version have the table; always true for a newer capture. Used so
// that an old capture is not reported to have missing tables.
bool is_of_its_time(const Database& db, const TableInfo& table);
// Returns the names of the timelines of `--style cann5`, in order.
std::vector<std::string_view> cann5_timelines();

// Returns the tables that the capture's own version exports by default.
std::vector<std::unique_ptr<SummaryTable>> default_tables(const Database& db);

// The timeline that merges all files of a board's capture (TimelineOptions::is_merged).
inline constexpr std::string_view kMergedTimeline = "merged_timeline";

#define TABLE(name) std::unique_ptr<SummaryTable> make_##name();
#define LAYER(name) std::unique_ptr<TimelineLayer> make_##name();
#include "export/products.def"

}  // namespace msprof
