// What a rule found in a capture. For `msprof advise`, and for what `export summary` says.
#pragma once

#include <string>

namespace msprof {}
