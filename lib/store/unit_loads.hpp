// Origin of the unit loads of a capture: the load of each unit, DDR bytes and the frequency of the
// cores. A chip measures them. The host runtime (lib/runtime) measures only times; its unit loads
// come from a machine model. Import decides this by content; every verb reads it here.
#pragma once

#include <string_view>

#include "store/database.hpp"

namespace msprof {

enum class UnitLoads { measured, modelled };

// Note printed next to modelled numbers.
inline constexpr std::string_view kModelledNote =
    "host runtime: times measured, unit loads modelled";

// Returns "measured" or "modelled": the value of "unit_loads" in JSON documents and in the table
// `meta`.
std::string_view unit_loads_name(UnitLoads unit_loads);

// Returns the origin recorded in a store.
UnitLoads read_unit_loads(const Database& db);

}  // namespace msprof
