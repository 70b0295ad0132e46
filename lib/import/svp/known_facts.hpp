// Reports what is known about a capture whose record layout is unknown: layers and fusions, times
// and rates from `.done` files, sizes. Also reports captures without executions.
#pragma once

#include "import/svp/svp_models.hpp"

namespace msprof::svp {

// Adds one note per model and per file with unknown layout. Does nothing if all layouts are known.
void report_known(const ImportContext& context, const SvpModels& models);
// Adds a finding if layers were requested but none was recorded.
void report_no_execution(const ImportContext& context, const SvpModels& models);

}  // namespace msprof::svp
