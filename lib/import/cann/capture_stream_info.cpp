// capture_stream_info: captured streams; read by the host join.
#include "import/cann/capture_stream_info_records.hpp"

#include "import/cann/cann_kinds.hpp"
#include "import/cann/stream_kind.hpp"

namespace msprof::cann {

std::unique_ptr<RawKind> make_capture_stream_info_kind(CannImport& import) {
  return make_stream_kind(import, "capture_stream_info", "capture_stream_info",
                          [](CannImport& into, const CannPart&) -> RecordStream& {
                            return into.host.capture_stream_info;
                          });
}

}  // namespace msprof::cann
