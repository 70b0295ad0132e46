// Why a product of a capture is missing. For check_capture().
#pragma once

#include <vector>

#include "doctor/capture_findings.hpp"
#include "doctor/check.hpp"
#include "store/database.hpp"

namespace msprof {

// One check that names the products with data, and one for each without. A product that only some
// runs have (ranges that an application names, collectives) is skipped where nothing of it was
// recorded; one that every run has is a warning, or failed where damage explains it.
void check_products(CheckList& list, const Database& db,
                    const std::vector<CaptureFinding>& findings);

}  // namespace msprof
