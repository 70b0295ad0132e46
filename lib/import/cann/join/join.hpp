// The join of a CANN capture: associates the tasks of the devices with the calls and operators of
// the host. Called after all files have been seen.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "import/cann/cann_import.hpp"

namespace msprof {
class HostTaskStore;
}

namespace msprof::cann {

class DeviceFirstPass;

// Writes the devices and the contents of the info files: rows `device`, and in meta "time_stamp",
// "chip", "window.begin_ns", "window.end_ns", "window.has_end" (0 or 1), "host.pid",
// "host.pid_name", "host.hostname", "host.frequency_hz". Called at the start of the join.
void write_devices(const CannImport& import, const ImportContext& context);

void write_pmu_columns(const CannImport& import, const ImportContext& context);
void report_unknown_sets(const CannImport& import, const ImportContext& context,
                         const CannPart& part, const DeviceInputs& inputs);
// Starts reading the host's streams on the read-ahead thread.
void begin_host(CannImport& import);
// Reads the host's streams in order of time. Writes calls, operators and fused operators, and adds
// host tasks to `tasks`.
void join_host(CannImport& import, const ImportContext& context, HostTaskStore& tasks);
// First passes over the records of the devices that can be joined, by device number.
using DeviceFirstPasses = std::map<std::int64_t, std::unique_ptr<DeviceFirstPass>>;
// Starts reading the streams of every device on the read-ahead thread.
DeviceFirstPasses begin_devices(CannImport& import);
// Reads the streams of every device in order of time. Writes tasks with their operators and
// counters.
void join_devices(CannImport& import, const ImportContext& context, HostTaskStore& tasks,
                  DeviceFirstPasses passes);

}  // namespace msprof::cann
