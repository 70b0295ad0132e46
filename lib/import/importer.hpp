// Importer: a capture folder into its store. For the verbs.
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
  // Replaces a store that was made with a layout by one that was made with none, or one that reads
  // less; else that is Error(less_than_before), unless the layout is of the command line.
  bool force = false;
  // Runs when all rows are in the store, before it is published: the moment for findings about
  // products.
  std::function<void(const Database&, ImportReport&)> inspect;
};

// Path of the store of a capture, in the capture or under --output.
std::filesystem::path store_path(const std::filesystem::path& product_folder);

// Reads `session` into a new store at `store`; the old one stays until the new one is whole.
ImportReport import_session(const Session& session, const std::filesystem::path& store,
                            const ImportOptions& options);

// Opens the store, when it was made from exactly the files that `session` has now.
std::optional<TraceDb> current_store(const Session& session, const std::filesystem::path& store);

// Keys of the table `meta`.
namespace meta {
inline constexpr std::string_view kDialect = "dialect";
inline constexpr std::string_view kCapture = "capture";
inline constexpr std::string_view kVerdict = "verdict";  // "complete", "without" or "partial"
inline constexpr std::string_view kVerdictText = "verdict_text";    // "complete without …"
inline constexpr std::string_view kUnitLoads = "unit_loads";        // store/unit_loads.hpp
inline constexpr std::string_view kLayoutOrigin = "layout_origin";  // store/layout_origin.hpp
}  // namespace meta

}  // namespace msprof
