// tensor_info: tensors of operators; read by the host join.
#include "import/cann/tensor_info_records.hpp"

#include "import/cann/cann_kinds.hpp"
#include "import/cann/stream_kind.hpp"

namespace msprof::cann {

std::unique_ptr<RawKind> make_tensor_info_kind(CannImport& import) {
  return make_stream_kind(
      import, "tensor_info", "tensor_info",
      [](CannImport& into, const CannPart&) -> RecordStream& { return into.host.tensor_info; });
}

}  // namespace msprof::cann
