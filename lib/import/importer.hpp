// Importer: reads a capture folder and writes its store.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "import/import_report.hpp"
#include "import/layout_choice.hpp"
#include "session/session.hpp"
#include "store/trace_db.hpp"

namespace msprof {

struct ImportOptions {
  LayoutChoice layout;
  // Allows replacing a store made with a layout by one that contains less. If false, that throws
  // Error(less_than_before), unless the layout was given on the command line.
  bool force = false;
  // Called after all rows are written and before the store is published; adds findings about
  // products.
  std::function<void(const Database&, ImportReport&)> inspect;
  // Called with the complete report, just before the store is published.
  std::function<void(const ImportReport&)> keep_report;
};

// Returns the path of a capture's store. `product_folder` is the capture or the --output folder.
std::filesystem::path store_path(const std::filesystem::path& product_folder);

// Reads `session` into a new store at `store`. An existing store is replaced only when the new one
// is complete.
ImportReport import_session(const Session& session, const std::filesystem::path& store,
                            const ImportOptions& options);

// Opens the store if it was made from exactly the current files of `session`; else nullopt.
std::optional<TraceDb> current_store(const Session& session, const std::filesystem::path& store);

// Keys of table `meta`.
namespace meta {
inline constexpr std::string_view kDialect = "dialect";
inline constexpr std::string_view kCapture = "capture";
inline constexpr std::string_view kVerdict = "verdict";  // "complete", "without" or "partial"
inline constexpr std::string_view kVerdictText = "verdict_text";    // "complete without …"
inline constexpr std::string_view kUnitLoads = "unit_loads";        // store/unit_loads.hpp
inline constexpr std::string_view kLayoutOrigin = "layout_origin";  // store/layout_origin.hpp
}  // namespace meta

}  // namespace msprof
