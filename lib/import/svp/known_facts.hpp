// What a capture says although the layout of its records is not known: layers and what was fused
// into them, times and rates of `.done` files, sizes; and that it has no layers. For the verdict.
#pragma once

#include "import/svp/svp_models.hpp"

namespace msprof::svp {

// Adds a note a model and a file of unknown layout; nothing where all layouts are known.
void report_known(const ImportContext& context, const SvpModels& models);
// Adds a finding where layers were asked for and none was recorded.
void report_no_execution(const ImportContext& context, const SvpModels& models);

}  // namespace msprof::svp
