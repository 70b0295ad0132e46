// task_track: launched tasks; read by the host join.
#include "import/cann/task_track_records.hpp"

#include "import/cann/cann_kinds.hpp"
#include "import/cann/stream_kind.hpp"

namespace msprof::cann {

std::unique_ptr<RawKind> make_task_track_kind(CannImport& import) {
  return make_stream_kind(
      import, "task_track", "task_track",
      [](CannImport& into, const CannPart&) -> RecordStream& { return into.host.task_track; });
}

}  // namespace msprof::cann
