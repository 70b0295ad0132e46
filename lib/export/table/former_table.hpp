// Removes JSON tables under the name of earlier versions, which timelines also use.
#pragma once

#include <string>
#include <vector>

#include "export/product_folder.hpp"

namespace msprof {

// Removes the file `name` from `folder` if it is a JSON table with these columns; else keeps it and
// logs its name.
void remove_former_table(ProductFolder& folder, const std::string& name,
                         const std::vector<std::string>& columns);

}  // namespace msprof
