// The svp kinds, made with the models that they share. For builtin_kinds.cpp.
#pragma once

#include <memory>

#include "import/raw_kind.hpp"
#include "import/svp/svp_models.hpp"

namespace msprof::svp {

std::unique_ptr<RawKind> make_info_json_kind(SvpModels& models, const SvpSession& session);
std::unique_ptr<RawKind> make_net_info_kind(SvpModels& models);
std::unique_ptr<RawKind> make_layer_info_kind(SvpModels& models);
std::unique_ptr<RawKind> make_aicore_kind(SvpModels& models);
std::unique_ptr<RawKind> make_aicpu_kind(SvpModels& models);
std::unique_ptr<RawKind> make_acl_api_kind(SvpModels& models);

// More layers than any model has.
inline constexpr std::int64_t kMostLayerId = 1'000'000;
// Longer than any real layer or call; a sum of a million of them still fits 128 bits.
inline constexpr std::int64_t kLongestDurationNs = std::int64_t{1} << 53;

}  // namespace msprof::svp
