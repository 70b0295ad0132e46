// What a profile lacks because of a finding, in the words of "complete without …": what files that
// nobody reads would give, and what stays behind with each `without` of findings.def. For
// ImportReport and the importer.
#pragma once

#include <string>
#include <string_view>

#include "base/findings.hpp"

namespace msprof {

// "HBM bandwidth" for "hbm.data"; `stem` is a file name without class, device and slice. A kind
// that nobody knows is "files of <stem>".
std::string product_of_unread(std::string_view stem);

// Empty for findings after which nothing lacks, and for unread_kind and unread_records, whose kind
// says it.
std::string_view lacking_after(FindingId id);

}  // namespace msprof
