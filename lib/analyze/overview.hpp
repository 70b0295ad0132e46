// What a capture is about in one line: chip, devices, tasks. For `show`, of captures that have no
// steps to choose from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "store/database.hpp"

namespace msprof {

struct Overview {
  std::string chip;  // "Ascend 910B"; empty where it is unknown
  std::int64_t devices = 0;
  std::int64_t tasks = 0;
};

// Empty where the capture says neither its chip nor has tasks.
std::optional<Overview> overview_of(const Database& db);

// "Ascend 910B, 2 devices, 1,234 tasks"
std::string overview_line(const Overview& overview);

}  // namespace msprof
