// The makers of the svp kinds, with the models that they share. For builtin_kinds.cpp.
#pragma once

#include <memory>

#include "import/raw_kind.hpp"
#include "import/svp/svp_models.hpp"

namespace msprof::svp {

#define SVP_KIND(name) std::unique_ptr<RawKind> make_##name##_kind(SvpModels& models);
#define CANN_KIND(name)
#include "import/kinds.def"
#undef SVP_KIND
#undef CANN_KIND

// More layers than any model has.
inline constexpr std::int64_t kMostLayerId = 1'000'000;
// Longer than any real layer or call; a sum of a million of them still fits 128 bits.
inline constexpr std::int64_t kLongestDurationNs = std::int64_t{1} << 53;

}  // namespace msprof::svp
