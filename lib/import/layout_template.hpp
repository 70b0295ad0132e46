// The skeleton that `import --layout-template FILE` writes. For the import verb.
#pragma once

#include <string>
#include <vector>

#include "import/import_report.hpp"

namespace msprof {

// JSON to be filled in and given back with --layout: one object a kind, every field with a null
// offset, the files met under "_files".
std::string layout_template(const std::vector<UnknownLayout>& files);

}  // namespace msprof
