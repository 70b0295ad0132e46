// memcpy_info: copies; read by the host join.
#include "import/cann/memcpy_info_records.hpp"

#include "import/cann/cann_kinds.hpp"
#include "import/cann/stream_kind.hpp"

namespace msprof::cann {

std::unique_ptr<RawKind> make_memcpy_info_kind(CannImport& import) {
  return make_stream_kind(
      import, "memcpy_info", "memcpy_info",
      [](CannImport& into, const CannPart&) -> RecordStream& { return into.host.memcpy_info; });
}

}  // namespace msprof::cann
