// Origin of the record layouts of a capture's data files. Records of the host runtime identify
// their layout. A board's layouts are described by a user or inferred, possibly wrongly, by `msprof
// layout`. Import records the origin in the store; every verb reads it here.
#pragma once

#include <string_view>

#include "store/database.hpp"

namespace msprof {

enum class LayoutOrigin { known, described, inferred };

// Note printed next to all numbers from an inferred layout.
inline constexpr std::string_view kInferredNote =
    "inferred layout: record fields were inferred by msprof layout, not documented by the vendor";

inline constexpr std::string_view kInferredLabel = "inferred layout";

// Returns "known", "described" or "inferred": the value of "layout_origin" in JSON documents and in
// the table `meta`.
std::string_view layout_origin_name(LayoutOrigin origin);

// Returns the origin recorded in a store.
LayoutOrigin read_layout_origin(const Database& db);

}  // namespace msprof
