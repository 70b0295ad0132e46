// Where the unit loads of a capture come from: the load of each unit, DDR bytes and the frequency
// of the cores. A chip measures them. The host runtime (lib/runtime) has only times to measure; its
// unit loads are a machine model. Import decides it by content; every verb asks here.
#pragma once

#include <string_view>

#include "store/database.hpp"

namespace msprof {

enum class UnitLoads { measured, modelled };

// The line that stands wherever modelled numbers are shown.
inline constexpr std::string_view kModelledNote =
    "host runtime: times measured, unit loads modelled";

// "measured" or "modelled": the value of "unit_loads" in JSON documents and in the table `meta`.
std::string_view unit_loads_name(UnitLoads unit_loads);

// Of the capture that a store was made of.
UnitLoads unit_loads_of(const Database& db);

}  // namespace msprof
