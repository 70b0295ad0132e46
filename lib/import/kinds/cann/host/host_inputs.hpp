// HostInputs: the streams of host records that the call tree joins. For CannImport.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "associate/host_task_store.hpp"
#include "associate/op_table.hpp"
#include "import/kinds/cann/record_stream.hpp"

namespace msprof::cann {

struct HostInputs {
  // Hashes of the names of models, by the runtime's number (graph_id_map).
  std::map<std::uint32_t, std::uint64_t> model_names;
  // The operators of the host tasks, once join_host() has run; null: there are none.
  std::unique_ptr<OpTable> ops;
};

}  // namespace msprof::cann
