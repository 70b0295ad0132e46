// Names of all models loaded by the process, so that a recording that starts later contains them.
// For the recorder and ActiveRecordings.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/acl/prof/recording.hpp"

namespace msprof::acl {

void know_model(std::uint32_t model, std::string_view name);
// Writes the name of a model to graph_id_map.
void record_model_name(Recording& recording, std::uint32_t model, std::string_view name,
                       std::uint64_t at_ns);
// Writes the names of all loaded models.
void record_known_models(Recording& recording);
// For a forked child: the lock may be held forever.
void reset_known_models();

}  // namespace msprof::acl
