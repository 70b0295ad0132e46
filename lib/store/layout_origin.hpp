// Where the record layouts of a capture's data files come from. Records of our own runtime say
// themselves what they are; a board's are described by somebody who knows them, or found by
// `msprof layout`, which can be wrong. Import notes it; every verb asks here.
#pragma once

#include <string_view>

#include "store/database.hpp"

namespace msprof {

enum class LayoutOrigin { known, described, inferred };

// The line that stands wherever numbers of an inferred layout are shown.
inline constexpr std::string_view kInferredNote =
    "inferred layout: fields of the records were found by msprof layout, not described by their "
    "maker";

// The same where there is room for a word.
inline constexpr std::string_view kInferredLabel = "inferred layout";

// "known", "described" or "inferred": the value of "layout_origin" in JSON documents and in the
// table `meta`.
std::string_view layout_origin_name(LayoutOrigin origin);

// Of the capture that a store was made of.
LayoutOrigin layout_origin_of(const Database& db);

}  // namespace msprof
