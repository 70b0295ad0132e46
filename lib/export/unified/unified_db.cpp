// The unified database msprof_<time>.db.
#include "export/exporter.hpp"

namespace msprof {

std::vector<ExportJob> plan_unified_db(const TraceDb&, const std::filesystem::path&) {
  return {};
}

}  // namespace msprof
