// The timeline layers and summary tables of products.def. For exporters, `show`, the verdict and
// the doctor.
#pragma once

#include <cstdint>
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

// Returns the tables of `--style cann5` as CANN 5 wrote them, in order, named after the topics.
// `generation` is that of a capture of CANN 5 or older, else empty; "all" includes the tables of
// every generation.
std::vector<std::unique_ptr<SummaryTable>> cann5_tables(std::string_view generation = {});
// Returns the tables that the capture's own version exports by default.
std::vector<std::unique_ptr<SummaryTable>> default_tables(const Database& db);
// Returns true if captures of this version have the table; always true for a newer capture. Used so
// that an old capture is not reported to have missing tables.
bool is_of_its_time(const Database& db, const TableInfo& table);
// Wraps `table`: removes Device_id and uses the column names and units of CANN 5.
std::unique_ptr<SummaryTable> make_cann5_table(std::unique_ptr<SummaryTable> table);

// A timeline of `--style cann5`: a file per device with the layers that name it. If
// OutputFile.is_cann5 is set, each layer draws as CANN 5 did.
struct Cann5Timeline {
  std::string_view name;
  std::int64_t key = 0;  // OutputFile.key
  Cann5Folder folder = Cann5Folder::device;
  std::vector<std::string_view> layers{};  // empty: the default layers
  ProductAge age = ProductAge::current;    // of the layers
};
std::vector<Cann5Timeline> cann5_timelines(ProductAge age = ProductAge::current);
// Converts meta "generation" to the age of a capture.
ProductAge to_product_age(std::string_view generation);
// Returns the layers that draw the timelines of captures of `age`.
std::vector<std::unique_ptr<TimelineLayer>> cann5_layers(const Database& db, ProductAge age);

// The timeline that merges all files of a board's capture (TimelineOptions::is_merged).
inline constexpr std::string_view kMergedTimeline = "merged_timeline";

#define TABLE(name) std::unique_ptr<SummaryTable> make_##name();
#define LAYER(name) std::unique_ptr<TimelineLayer> make_##name();
#include "export/products.def"
#undef TABLE
#undef LAYER

}  // namespace msprof
