// Launch policy for std::async() helpers: a separate thread if the system provides one, else the
// thread that calls get(). For work that several threads take from one list: a helper that starts
// late finds it empty.
#pragma once

#include <future>

namespace msprof {

inline constexpr std::launch kOnThreadIfAny = std::launch::async | std::launch::deferred;

}  // namespace msprof
