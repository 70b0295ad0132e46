// What a profile lacks because of files that nobody reads, in the words of "complete without …".
// For the importer.
#pragma once

#include <string>
#include <string_view>

namespace msprof {

// "HBM bandwidth" for "hbm.data"; `stem` is a file name without class, device and slice. A kind
// that nobody knows is "files of <stem>".
std::string product_of_unread(std::string_view stem);

}  // namespace msprof
