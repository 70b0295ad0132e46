// What --json prints. For the verbs that have it.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"

namespace msprof {

// For --json: runs `work`, which fills `document`, and prints it with the exit code, also when an
// Error ended the work. Integers beyond 2^53 are strings.
Exit print_document(nlohmann::ordered_json& document, const std::function<Exit()>& work);

}  // namespace msprof
