// The views by what they are about, for views.cpp.
#pragma once

#include "query/views.hpp"

namespace msprof {

std::vector<View>
capture_views();                   // devices, models, steps, iterations, counters, what import said
std::vector<View> device_views();  // operators, tasks, executions, collectives, copies
std::vector<View> host_views();    // calls, own ranges, memory

}  // namespace msprof
