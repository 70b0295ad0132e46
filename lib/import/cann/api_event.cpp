// api_event: calls of the host; read by the host join.
#include "import/cann/api_event_records.hpp"

#include "import/cann/cann_kinds.hpp"
#include "import/cann/stream_kind.hpp"

namespace msprof::cann {

std::unique_ptr<RawKind> make_api_event_kind(CannImport& import) {
  return make_stream_kind(
      import, "api_event", "api_event",
      [](CannImport& into, const CannPart&) -> RecordStream& { return into.host.api_event; });
}

}  // namespace msprof::cann
