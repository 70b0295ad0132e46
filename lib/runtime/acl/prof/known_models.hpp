// The models that the process has loaded: a recording that begins later has their names, too. For
// the recorder and ActiveRecordings.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/acl/prof/recording.hpp"

namespace msprof::acl {

// Remembers the name of a model.
void know_model(std::uint32_t model, std::string_view name);
// The name of a model in graph_id_map.
void record_model_name(Recording& recording, std::uint32_t model, std::string_view name,
                       std::uint64_t at_ns);
// All that were loaded.
void record_known_models(Recording& recording);
// After a fork: another thread may have been at it.
void reset_known_models();

}  // namespace msprof::acl
