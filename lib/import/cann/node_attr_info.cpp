// node_attr_info: attributes of operators; read by the host join.
#include "import/cann/node_attr_info_records.hpp"

#include "import/cann/cann_kinds.hpp"
#include "import/cann/stream_kind.hpp"

namespace msprof::cann {

std::unique_ptr<RawKind> make_node_attr_info_kind(CannImport& import) {
  return make_stream_kind(
      import, "node_attr_info", "node_attr_info",
      [](CannImport& into, const CannPart&) -> RecordStream& { return into.host.node_attr_info; });
}

}  // namespace msprof::cann
