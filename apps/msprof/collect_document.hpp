// What `collect --json` prints. For the verb collect.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "board/facts.hpp"
#include "collect/collector.hpp"

namespace msprof {

nlohmann::json document_of(const CollectResult& result);
nlohmann::json document_of(const BoardFacts& facts);

}  // namespace msprof
