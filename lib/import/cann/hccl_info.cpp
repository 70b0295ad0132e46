// hccl_info: tasks of collectives; read by the host join.
#include "import/cann/hccl_info_records.hpp"

#include "import/cann/cann_kinds.hpp"
#include "import/cann/stream_kind.hpp"

namespace msprof::cann {

std::unique_ptr<RawKind> make_hccl_info_kind(CannImport& import) {
  return make_stream_kind(
      import, "hccl_info", "hccl_info",
      [](CannImport& into, const CannPart&) -> RecordStream& { return into.host.hccl_info; });
}

}  // namespace msprof::cann
