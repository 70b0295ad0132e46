// Scenes for the rules about system counters: each either meets its rule or stays just below the
// threshold.
#pragma once

#include <memory>

#include "analyze/advise_scenes.hpp"

namespace msprof::test {

using ScenePtr = std::unique_ptr<Scene>;

ScenePtr of_bandwidth(bool is_met);
ScenePtr of_cache(bool is_met);
ScenePtr of_host_cpu(bool is_met);
ScenePtr of_disk(bool is_met);
ScenePtr of_growing_memory(bool is_met);
ScenePtr of_network_errors(bool is_met);
ScenePtr of_network_pressure(bool is_met);
ScenePtr of_voltage(bool is_met);

}  // namespace msprof::test
