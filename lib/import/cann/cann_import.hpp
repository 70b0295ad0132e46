// CannImport: what the kinds of one CANN import share. The files of kinds that belong together are
// gathered here; join() then reads them side by side, in order of time.
#pragma once

#include <map>

#include "import/cann/device_streams.hpp"
#include "import/cann/dictionaries.hpp"
#include "import/cann/host_streams.hpp"
#include "import/raw_kind.hpp"
#include "session/cann_session.hpp"

namespace msprof::cann {

struct CannImport {
  explicit CannImport(const CannSession& capture) : session(capture) {}
  const CannSession& session;
  Dictionaries dictionaries;
  HostInputs host;
  std::map<std::int64_t, DeviceInputs> devices;  // by device number
  // Stream ids of STARS chips have 15 bits (expand_stream_spec; stars_ids()).
  bool streams_expanded = false;
  // Rows so far, of tables that several kinds write.
  std::int64_t step_mark_rows = 0;
  std::int64_t data_queue_rows = 0;
};

}  // namespace msprof::cann
