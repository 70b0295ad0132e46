// context_id_info: contexts of operators; read by the host join.
#include "import/cann/context_id_info_records.hpp"

#include "import/cann/cann_kinds.hpp"
#include "import/cann/stream_kind.hpp"

namespace msprof::cann {

std::unique_ptr<RawKind> make_context_id_info_kind(CannImport& import) {
  return make_stream_kind(
      import, "context_id_info", "context_id_info",
      [](CannImport& into, const CannPart&) -> RecordStream& { return into.host.context_id_info; });
}

}  // namespace msprof::cann
