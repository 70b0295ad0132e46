#include "export/scope/export_style.hpp"

#include <fmt/format.h>

#include <string_view>

#include "base/error.hpp"
#include "session/session.hpp"
#include "store/schema.hpp"

namespace msprof {

namespace {

std::string products_folder(const Database& db, std::string_view of_svp) {
  return is_of_atlas(db) ? "mindstudio_profiler_output" : std::string(of_svp);
}

}  // namespace

bool is_of_atlas(const Database& db) {
  const std::string dialect = read_meta(db, "dialect");
  return dialect == dialect_name(Dialect::cann) || dialect == dialect_name(Dialect::classic);
}

std::string read_generation(const Database& db) {
  return read_meta(db, "generation");
}

bool is_old_capture(const Database& db) {
  return !read_generation(db).empty();
}

ExportStyle style_for(const Database& db, ExportStyle style) {
  if (style != ExportStyle::of_capture) return style;
  return is_old_capture(db) ? ExportStyle::cann5 : ExportStyle::current;
}

void check_style(const Database& db, const ExportScope& scope, ExportStyle style) {
  if (is_of_atlas(db)) return;
  if (style == ExportStyle::cann5 || style == ExportStyle::cann8) {
    throw Error(Exit::usage, fmt::format("--style {} applies only to captures of Atlas machines "
                                         "(PROF…); this is a board capture (JOB…): omit the option",
                                         style == ExportStyle::cann5 ? "cann5" : "cann8"));
  }
  if (scope.model_number || scope.iteration) {
    throw Error(Exit::usage,
                "--model-id and --iteration-id apply only to captures of Atlas machines (PROF…); a "
                "board (JOB…) records no iterations: omit them");
  }
}

std::string summary_folder(const Database& db) {
  return products_folder(db, "summary");
}

std::string timeline_folder(const Database& db) {
  return products_folder(db, "timeline");
}

bool has_unified_db(const Database& db) {
  return is_of_atlas(db);
}

bool has_merged_timeline(const Database& db) {
  return read_meta(db, "dialect") == dialect_name(Dialect::svp);
}

}  // namespace msprof
