// hccl_op_info: collectives; read by the host join.
#include "import/cann/hccl_op_info_records.hpp"

#include "import/cann/cann_kinds.hpp"
#include "import/cann/stream_kind.hpp"

namespace msprof::cann {

std::unique_ptr<RawKind> make_hccl_op_info_kind(CannImport& import) {
  return make_stream_kind(
      import, "hccl_op_info", "hccl_op_info",
      [](CannImport& into, const CannPart&) -> RecordStream& { return into.host.hccl_op_info; });
}

}  // namespace msprof::cann
