// The makers of the CANN kinds, one file each, and what joins them. For builtin_kinds.cpp.
#pragma once

#include <memory>
#include <vector>

#include "import/cann/cann_import.hpp"

namespace msprof {
class HostTaskStore;
}

namespace msprof::cann {

#define SVP_KIND(name)
#define CANN_KIND(name) std::unique_ptr<RawKind> make_##name##_kind(CannImport& import);
#include "import/kinds.def"
#undef SVP_KIND
#undef CANN_KIND

// The kinds that are rows of kHostStreams and of the table in device_streams.cpp. They only gather
// files, so that their order among the kinds does not matter.
std::vector<std::unique_ptr<RawKind>> make_host_stream_kinds(CannImport& import);
std::vector<std::unique_ptr<RawKind>> make_device_stream_kinds(CannImport& import);

// The devices and what the info files say about the capture: rows `device`, and in meta
// "time_stamp", "chip", "window.begin_ns", "window.end_ns", "window.has_end" (0 or 1), "host.pid",
// "host.pid_name", "host.hostname", "host.frequency_hz". At the start of join.
void write_devices(const CannImport& import, const ImportContext& context);

// Reads the host's streams in order of time: calls, operators, fused operators, and the host tasks,
// which come to `tasks`.
void join_host(CannImport& import, const ImportContext& context, HostTaskStore& tasks);
// Reads the streams of every device in order of time: tasks with their operators and counters.
void join_devices(CannImport& import, const ImportContext& context, HostTaskStore& tasks);

}  // namespace msprof::cann
