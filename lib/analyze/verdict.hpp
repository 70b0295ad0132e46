// What the verdict says beyond the raw files: which products the profile does not give. For import.
#pragma once

#include "import/import_report.hpp"
#include "store/database.hpp"

namespace msprof {

// Adds a note for every product without data.
void note_empty_products(const Database& db, ImportReport& report);

// Whether the profile gives any product at all.
bool has_any_product(const Database& db);

}  // namespace msprof
