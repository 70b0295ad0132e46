// Helpers of a thread that works itself, by std::async(): on a thread of their own, or, where the
// system gives none, by get() on the thread that waits for them. For work that several threads take
// from one list, so that the last finds nothing left.
#pragma once

#include <future>

namespace msprof {

inline constexpr std::launch kOnThreadIfAny = std::launch::async | std::launch::deferred;

}  // namespace msprof
