// The makers of the CANN kinds, one file each, and what joins them. For builtin_kinds.cpp.
#pragma once

#include <memory>
#include <vector>

#include "import/cann/cann_import.hpp"

namespace msprof {
class HostTaskStore;
}

namespace msprof::cann {

// Dictionaries, first of all.
std::unique_ptr<RawKind> make_type_info_kind(CannImport& import);
std::unique_ptr<RawKind> make_hash_dic_kind(CannImport& import);

// Host records that are rows by themselves.
std::unique_ptr<RawKind> make_graph_id_map_kind(CannImport& import);
std::unique_ptr<RawKind> make_msproftx_kind(CannImport& import);
std::unique_ptr<RawKind> make_task_memory_info_kind(CannImport& import);
std::unique_ptr<RawKind> make_logic_stream_info_kind(CannImport& import);
std::unique_ptr<RawKind> make_mc2_comm_info_kind(CannImport& import);
std::unique_ptr<RawKind> make_expand_stream_spec_kind(CannImport& import);

// Host records that the call tree joins: a kind a row of kHostStreams. They only gather files, so
// that their order among the kinds does not matter.
std::vector<std::unique_ptr<RawKind>> make_host_stream_kinds(CannImport& import);

// Device records that are rows by themselves.
std::unique_ptr<RawKind> make_aicpu_kind(CannImport& import);
std::unique_ptr<RawKind> make_data_preprocess_kind(CannImport& import);
std::unique_ptr<RawKind> make_l2_cache_kind(CannImport& import);
std::unique_ptr<RawKind> make_lpm_freq_kind(CannImport& import);

// Device records that tasks are made of: the task scheduler's, and the kinds of the table in
// device_streams.cpp.
std::unique_ptr<RawKind> make_ts_track_kind(CannImport& import);
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
