// node_basic_info: operators; read by the host join.
#include "import/cann/node_basic_info_records.hpp"

#include "import/cann/cann_kinds.hpp"
#include "import/cann/stream_kind.hpp"

namespace msprof::cann {

std::unique_ptr<RawKind> make_node_basic_info_kind(CannImport& import) {
  return make_stream_kind(
      import, "node_basic_info", "node_basic_info",
      [](CannImport& into, const CannPart&) -> RecordStream& { return into.host.node_basic_info; });
}

}  // namespace msprof::cann
