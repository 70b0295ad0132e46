// fusion_op_info: fused operators; read by the host join.
#include "import/cann/fusion_op_info_records.hpp"

#include "import/cann/cann_kinds.hpp"
#include "import/cann/stream_kind.hpp"

namespace msprof::cann {

std::unique_ptr<RawKind> make_fusion_op_info_kind(CannImport& import) {
  return make_stream_kind(
      import, "fusion_op_info", "fusion_op_info",
      [](CannImport& into, const CannPart&) -> RecordStream& { return into.host.fusion_op_info; });
}

}  // namespace msprof::cann
