#include "query/views.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string>

#include "store/cells.hpp"

namespace msprof {

namespace {

// Device activity. total() is used instead of sum(): the store is untrusted, and a sum of integers
// can overflow.

View ops() {
  return {
      "v_ops",
      "one operator: a layer of a model (JOB…), an operator with its shapes (PROF…)",
      {{"op_id", "", "id of the operator in this store"},
       {"model_id", "", "model id of the runtime; NULL if the operator belongs to no model"},
       {"model", "", "name of the model"},
       {"position", "", "order within the model, from 0"},
       {"layer_id", "", "layer id, as in op_summary"},
       {"name", "", "name of the operator or layer"},
       {"original_names", "", "layers that were fused into this one, joined by '+'"},
       {"type", "", "Conv2D, MatMulV2, …"},
       {"unit", "",
        "unit that executed it: AA_CORE, AA_CPU, AI_CORE, AI_VECTOR_CORE, AI_CPU, MIX_AIC, …"},
       {"input_shapes", "", "\"8,1;128,4096\""},
       {"output_shapes", "", "same format as input_shapes"},
       {"input_types", "", "\"FLOAT16;INT64\""},
       {"block_num", "", "number of cores requested"},
       {"count", "", "executions with a known duration"},
       {"total_us", "us", "total time of all executions"},
       {"mean_us", "us", "mean time of an execution"},
       {"min_us", "us", "shortest execution"},
       {"max_us", "us", "longest execution"},
       {"share", "%", "share of the time of all operators"}},
      "SELECT op.id AS op_id, model.model_id, (SELECT text FROM name WHERE id = model.name_id) AS"
      " model, op.position, op.layer_id, (SELECT text FROM name WHERE id = op.name_id) AS name,"
      " (SELECT text FROM name WHERE id = op.original_name_id) AS original_names,"
      " (SELECT text FROM name WHERE id = op.type_name_id) AS type,"
      " (SELECT text FROM name WHERE id = op.unit_name_id) AS unit,"
      " (SELECT text FROM name WHERE id = op.input_shapes_name_id) AS input_shapes,"
      " (SELECT text FROM name WHERE id = op.output_shapes_name_id) AS output_shapes,"
      " (SELECT text FROM name WHERE id = op.input_types_name_id) AS input_types,"
      " op.block_num, run.count, run.total_us, run.total_us / run.count AS mean_us, run.min_us,"
      " run.max_us, 100 * run.total_us / nullif(total(run.total_us) OVER (), 0) AS share"
      " FROM (SELECT op_id, task_count AS count, total_ns / 1000.0 AS total_us,"
      " min_ns / 1000.0 AS min_us, max_ns / 1000.0 AS max_us FROM op_time) AS run"
      " JOIN op ON op.id = run.op_id LEFT JOIN model ON model.id = op.model_row"};
}

View tasks() {
  return {
      "v_tasks",
      "one task of a device: an execution of an operator, a copy, an event",
      {{"task_id", "", "id of the task in this store; ids of a device ascend with time"},
       {"device_id", "", "number of the device"},
       {"model_id", "", "model id of the runtime"},
       {"step", "", "JOB…: number of the model's capture, from 0 (`show --capture`)"},
       {"execution", "", "JOB…: number of the model's execution, from 0"},
       {"stream_id", "", "PROF…: stream id"},
       {"task_number", "", "PROF…: task id of the runtime"},
       {"op_id", "", "v_ops.op_id; NULL if the task is not an operator"},
       {"op_name", "", "name of the operator"},
       {"op_type", "", "type of the operator"},
       {"task_type", "", "unit of the operator; for other tasks the task type of the scheduler"},
       {"start_ns", "ns", "start time"},
       {"duration_us", "us", "duration; NULL if the frequency of the device is unknown"},
       {"call_id", "", "v_api_calls.call_id of the call that launched it"},
       {"kernel", "", "PROF…: kernel name of the runtime"}},
      "SELECT task.id AS task_id, ifnull(task.device_id, model.device_id) AS device_id,"
      " ifnull(task.model_number, model.model_id) AS model_id, step.number AS step, task.execution,"
      " task.stream_id, task.task_number, task.op_id,"
      " (SELECT text FROM name WHERE id = op.name_id) AS op_name,"
      " (SELECT text FROM name WHERE id = op.type_name_id) AS op_type,"
      " (SELECT text FROM name WHERE id = coalesce(op.unit_name_id, task.host_type_name_id,"
      " task.device_type_name_id)) AS task_type,"
      " task.start_ns, task.duration_ns / 1000.0 AS duration_us, task.api_id AS call_id,"
      " (SELECT text FROM name WHERE id = task.kernel_name_id) AS kernel"
      " FROM task LEFT JOIN op ON op.id = task.op_id LEFT JOIN step ON step.id = task.step_id"
      " LEFT JOIN model ON model.id = step.model_row"};
}

View executions() {
  return {
      "v_executions",
      "one execution of a model (JOB…), or one iteration (PROF…)",
      {{"device_id", "", "number of the device"},
       {"model_id", "", "model id of the runtime"},
       {"step", "", "JOB…: number of the model's capture"},
       {"execution", "", "number of the execution: from 0 (JOB…), or as in step_trace (PROF…)"},
       {"start_ns", "ns", "start of its first task, or of the iteration"},
       {"span_us", "us", "time from the start of the first task to the end of the last"},
       {"busy_us", "us", "JOB…: total duration of its tasks"},
       {"task_count", "", "JOB…: number of its tasks"}},
      "SELECT model.device_id, model.model_id, step.number AS step, run.execution, run.start_ns,"
      " (run.end_ns - run.start_ns) / 1000.0 AS span_us, run.busy_ns / 1000.0 AS busy_us,"
      " run.task_count FROM execution_time AS run"
      " JOIN step ON step.id = run.step_id JOIN model ON model.id = step.model_row"
      " UNION ALL SELECT device_id, model_number, NULL, number, start_ns, duration_ns / 1000.0,"
      " NULL, NULL FROM iteration"};
}

View device_collectives() {
  return {"v_collectives",
          "one collective communication on one device (PROF…)",
          {{"device_id", "", "number of the device"},
           {"model_id", "", "model id of the runtime"},
           {"name", "", "\"hcom_allReduce__101_1_1\""},
           {"type", "", "\"hcom_allReduce_\""},
           {"group_name", "", "communication group"},
           {"rank_count", "", "number of ranks in the group"},
           {"start_ns", "ns", "start time"},
           {"duration_us", "us", "time until the end of its last task"}},
          "SELECT comm_op.device_id, comm_op.model_number AS model_id,"
          " (SELECT text FROM name WHERE id = comm_op.name_id) AS name,"
          " (SELECT text FROM name WHERE id = comm_call.op_type_name_id) AS type,"
          " (SELECT text FROM name WHERE id = comm_op.group_name_id) AS group_name,"
          " comm_op.rank_size AS rank_count, comm_op.start_ns,"
          " (comm_op.end_ns - comm_op.start_ns) / 1000.0 AS duration_us FROM comm_op"
          " LEFT JOIN comm_call ON comm_call.id = comm_op.first_comm_call_id"};
}

View copies() {
  return {
      "v_copies",
      "one copy of memory by a device (PROF…)",
      {{"task_id", "", "v_tasks.task_id"},
       {"device_id", "", "number of the device"},
       {"stream_id", "", "stream id"},
       {"direction", "",
        "'host to host', 'host to device', 'device to host', 'device to device', "
        "'other'"},
       {"size_bytes", "bytes", "number of bytes copied"},
       {"start_ns", "ns", "start time"},
       {"duration_us", "us", "duration"}},
      "SELECT task.id AS task_id, task.device_id, task.stream_id, "
      " CASE memcpy_task.direction WHEN 0 THEN 'host to host' WHEN 1 THEN 'host to device' WHEN 2"
      " THEN 'device to host' WHEN 3 THEN 'device to device' WHEN 5 THEN 'device to device' WHEN 6"
      " THEN 'host to device' WHEN 7 THEN 'device to host' ELSE 'other' END AS direction,"
      " memcpy_task.size_bytes, task.start_ns, task.duration_ns / 1000.0 AS duration_us"
      " FROM memcpy_task JOIN task ON task.id = memcpy_task.task_id"};
}

View busy_spans() {
  return {"v_overlap",
          "a time span in which a device computed, communicated or was free (PROF…)",
          {{"device_id", "", "number of the device"},
           {"kind", "",
            "'computing', 'communication', 'communication not overlapped' (by computing), 'free'"},
           {"start_ns", "ns", "start time"},
           {"duration_us", "us", "duration"}},
          "SELECT device_id, CASE kind WHEN 0 THEN 'computing' WHEN 1 THEN 'communication'"
          " WHEN 2 THEN 'communication not overlapped' WHEN 3 THEN 'free' END AS kind, start_ns,"
          " (end_ns - start_ns) / 1000.0 AS duration_us FROM overlap"};
}

std::vector<View> device_views() {
  return {ops(), tasks(), executions(), device_collectives(), copies(), busy_spans()};
}

// Host activity.

View api_calls() {
  static const std::string select = [] {
    std::string levels;
    for (const auto& [level, text] : call_level::kNames)
      levels += fmt::format(" WHEN {} THEN '{}'", level, text);
    return "SELECT id AS call_id, process_id, thread_id, CASE level" + levels +
           " ELSE CAST(level AS TEXT) END AS level,"
           " (SELECT text FROM name WHERE id = type_name_id) AS type,"
           " (SELECT text FROM name WHERE id = name_id) AS name,"
           " (SELECT text FROM name WHERE id = item_name_id) AS item,"
           " start_ns, (end_ns - start_ns) / 1000.0 AS duration_us FROM api_call";
  }();
  return {"v_api_calls",
          "one call on the host",
          {{"call_id", "", "id of the call in this store"},
           {"process_id", "", "process id of the caller"},
           {"thread_id", "", "thread id of the caller"},
           {"level", "",
            "PROF…: 'acl', 'model', 'node', 'communication', 'runtime', or the level's number"},
           {"type", "", "JOB…: 'model', 'runtime', …; PROF…: the mode, \"ACL_MODEL\""},
           {"name", "", "\"svp_acl_mdl_execute\""},
           {"item", "", "PROF…: operator or model of the call"},
           {"start_ns", "ns", "start time"},
           {"duration_us", "us", "duration"}},
          select};
}

View user_ranges() {
  return {"v_user_ranges",
          "a range or mark of the application (PROF…, msproftx)",
          {{"process_id", "", "process id of the application"},
           {"thread_id", "", "thread id of the application"},
           {"kind", "", "'marker', 'push/pop', 'start/end', 'marker_ex'"},
           {"domain", "", "domain of the range"},
           {"message", "", "message passed by the application"},
           {"start_ns", "ns", "start time"},
           {"duration_us", "us", "duration; 0 for a mark"}},
          "SELECT process_id, thread_id, CASE event_type WHEN 0 THEN 'marker' WHEN 1 THEN"
          " 'push/pop' WHEN 2 THEN 'start/end' WHEN 3 THEN 'marker_ex' END AS kind,"
          " (SELECT text FROM name WHERE id = domain_name_id) AS domain,"
          " (SELECT text FROM name WHERE id = message_name_id) AS message, start_ns,"
          " (end_ns - start_ns) / 1000.0 AS duration_us FROM user_range"};
}

View memory_blocks() {
  return {"v_memory_blocks",
          "device memory that an operator allocated, until it was released (PROF…)",
          {{"device_id", "", "number of the device"},
           {"operator", "", "operator that allocated it"},
           {"size_bytes", "bytes", "size"},
           {"allocated_ns", "ns", "time of the allocation"},
           {"duration_us", "us", "time until the release; NULL: never released"}},
          "SELECT event.device_id, (SELECT text FROM name WHERE id = event.name_id) AS operator,"
          " event.size_bytes, event.time_ns AS allocated_ns, memory_block.duration_ns / 1000.0"
          " AS duration_us FROM memory_block JOIN memory_event AS event"
          " ON event.id = memory_block.allocation_id"};
}

View runtime_memory() {
  return {"v_runtime_memory",
          "an allocation of the runtime, until it was released (PROF…)",
          {{"device_id", "", "device that the thread used"},
           {"kind", "", "'host', 'device', 'managed', 'unknown'"},
           {"space", "", "'memory', 'physical' (address is a handle), 'reserved' (only addresses)"},
           {"address", "",
            "start address; if size_bytes is NULL, it was allocated before the collection"},
           {"size_bytes", "bytes", "requested size"},
           {"allocated_ns", "ns", "time of the allocation; NULL: before the collection"},
           {"released_ns", "ns", "time of the release; NULL: still held at the end of the capture"},
           {"duration_us", "us", "time between allocation and release"},
           {"state", "", "'held', 'released', 'replaced' (release not recorded), 'unknown'"},
           {"api", "", "API call that allocated or released it"},
           {"thread_id", "", "thread id of the caller"}},
          "SELECT event.device_id, CASE event.kind WHEN 1 THEN 'host' WHEN 2 THEN 'device' WHEN 3"
          " THEN 'managed' ELSE 'unknown' END AS kind, CASE space WHEN 1 THEN 'physical' WHEN 2"
          " THEN 'reserved' ELSE 'memory' END AS space, event.address,"
          " CASE WHEN allocation_id IS NOT NULL THEN event.size_bytes END AS size_bytes,"
          " CASE WHEN allocation_id IS NOT NULL THEN event.time_ns END AS allocated_ns,"
          " block.end_ns AS released_ns, CASE WHEN allocation_id IS NOT NULL THEN"
          " (block.end_ns - event.time_ns) / 1000.0 END AS duration_us, CASE block.end_kind WHEN 0"
          " THEN 'held' WHEN 1 THEN 'released' WHEN 2 THEN 'replaced' ELSE 'unknown' END AS state,"
          " (SELECT text FROM name JOIN api_call ON name.id = api_call.name_id WHERE api_call.id ="
          " ifnull(event.acl_call_id, event.runtime_call_id)) AS api, event.thread_id"
          " FROM main.runtime_block AS block JOIN main.runtime_memory AS event"
          " ON event.id = ifnull(allocation_id, release_id)"};
}

View runtime_copies() {
  return {"v_runtime_copies",
          "a copy or memset by a runtime call (PROF…)",
          {{"device_id", "", "number of the device"},
           {"direction", "", "'host to device', …; 'set'"},
           {"size_bytes", "bytes", "size"},
           {"stream_id", "", "stream id; NULL: the call was synchronous"},
           {"value", "", "value that memory was set to; NULL: a copy"},
           {"start_ns", "ns", "start of the runtime call"},
           {"api_us", "us", "duration of the runtime call"},
           {"api", "", "API call of the application"},
           {"thread_id", "", "thread id of the caller"}},
          "SELECT device_id, (SELECT text FROM name WHERE id = direction_name_id) AS direction,"
          " size_bytes, stream_id, value, ifnull(call.start_ns, time_ns) AS start_ns,"
          " (call.end_ns - call.start_ns) / 1000.0 AS api_us,"
          " (SELECT text FROM name JOIN api_call ON name.id = api_call.name_id WHERE api_call.id ="
          " ifnull(copy.acl_call_id, copy.runtime_call_id)) AS api,"
          " copy.thread_id FROM main.runtime_copy AS copy LEFT JOIN api_call AS call"
          " ON call.id = runtime_call_id"};
}

View task_blocks() {
  return {"v_task_blocks",
          "the blocks of a task on one kind of core (PROF… of V6 chips)",
          {{"task_id", "", "v_tasks.task_id"},
           {"core", "", "'AIC' or 'AIV'"},
           {"block_count", "", "number of recorded blocks"},
           {"start_spread_us", "us", "time from the first to the last start of a block"},
           {"end_spread_us", "us",
            "time from the first to the last end of a block, in which cores wait"},
           {"busy_us", "us", "total time of all blocks"},
           {"first_core", "", "core whose block started first"},
           {"last_core", "", "core whose block started last"}},
          "SELECT task_id, CASE is_vector WHEN 0 THEN 'AIC' ELSE 'AIV' END AS core, block_count,"
          " (last_start_ns - first_start_ns) / 1000.0 AS start_spread_us,"
          " (latest_end_ns - earliest_end_ns) / 1000.0 AS end_spread_us, busy_ns / 1000.0 AS"
          " busy_us, first_core, last_core FROM task_blocks"};
}

std::vector<View> host_views() {
  return {api_calls(),      user_ranges(),    memory_blocks(),
          runtime_memory(), runtime_copies(), task_blocks()};
}

// The capture as a whole.

View devices() {
  return {"v_devices",
          "one device",
          {{"device_id", "", "number of the device"},
           {"chip", "", "\"Ascend910B\""},
           {"frequency_mhz", "MHz", "of its compute cores", true},
           {"core_count", "", "number of AI Cores"},
           {"vector_core_count", "", "number of vector cores"},
           {"layout_origin", "",
            "origin of the record layout: known, described or inferred (layouts.md)"}},
          "SELECT id AS device_id, (SELECT text FROM name WHERE id = chip_name_id) AS chip,"
          " frequency_hz / 1e6 AS frequency_mhz, core_count, vector_core_count,"
          " ifnull((SELECT value FROM meta WHERE key = 'layout_origin'), 'known') AS layout_origin"
          " FROM device"};
}

View models() {
  return {"v_models",
          "one loaded model of the capture",
          {{"device_id", "", "number of the device; NULL if unknown"},
           {"model_id", "", "model id of the runtime"},
           {"name", "", "name of the model"},
           {"batch", "",
            "batch size that the model was built for (JOB…); v_steps has the batch size that ran"}},
          "SELECT device_id, model_id, (SELECT text FROM name WHERE id = name_id) AS name,"
          " batch_num AS batch FROM model"};
}

View steps() {
  return {"v_steps",
          "one capture of a model: executions whose records were saved together (JOB…)",
          {{"device_id", "", "number of the device"},
           {"model_id", "", "model id of the runtime"},
           {"model", "", "name of the model"},
           {"step", "", "number of the capture within the model, from 0"},
           {"batch", "", "pictures per execution"},
           {"pictures_before", "", "pictures processed before it started"},
           {"icache_hit", "", "instruction cache hits"},
           {"icache_miss", "", "instruction cache misses"},
           {"executions", "", "number of executions in the capture"},
           {"task_count", "", "number of layer executions"},
           {"start_ns", "ns", "start of its first task"},
           {"busy_us", "us", "total duration of its tasks"}},
          // A board's model names are parts of file names. Foreign stores can have longer ones.
          "SELECT model.device_id, model.model_id, substr((SELECT text FROM name WHERE id ="
          " model.name_id), 1, 255) AS model, step.number AS step, step.batch_num AS batch,"
          " step.current_pic_count AS pictures_before, step.icache_hit, step.icache_miss,"
          " step_time.execution_count AS executions, step_time.task_count,"
          " step_time.first_start_ns AS start_ns, step_time.busy_ns / 1000.0 AS busy_us"
          " FROM step JOIN model ON model.id = step.model_row"
          " LEFT JOIN step_time ON step_time.step_id = step.id"};
}

View iterations() {
  return {"v_iterations",
          "one iteration of a model (PROF…)",
          {{"device_id", "", "number of the device"},
           {"model_id", "", "model id of the runtime"},
           {"iteration", "", "number of the iteration (`export --iteration-id`)"},
           {"start_ns", "ns", "start time"},
           {"duration_us", "us", "duration"},
           {"fp_bp_us", "us", "forward and backward pass"},
           {"refresh_us", "us", "gradient refresh"},
           {"data_aug_us", "us", "time until the next iteration starts to compute"}},
          "SELECT device_id, model_number AS model_id, number AS iteration, start_ns,"
          " duration_ns / 1000.0 AS duration_us, fp_bp_ns / 1000.0 AS fp_bp_us,"
          " refresh_ns / 1000.0 AS refresh_us, data_aug_ns / 1000.0 AS data_aug_us"
          " FROM iteration"};
}

// Converts a sample to its displayed value; see docs/counters.md.
constexpr const char* kShownValue =
    "CASE WHEN track.is_rate = 0 THEN counter.value * 1.0 / track.divisor"
    " WHEN counter.time_ns > counter.begin_ns THEN counter.value * 1e9 / track.divisor /"
    " (counter.time_ns - counter.begin_ns) ELSE 0.0 END";

View counters() {
  return {
      "v_counters",
      "a value of a counter over time: bandwidth, memory, use, frequency",
      {{"device_id", "", "number of the device; NULL: the host"},
       {"kind", "", "name of its table: \"hbm\", \"npu_mem\", …"},
       {"subject", "", "measured object: \"HBM 0\", \"CPU 3\", \"AI Core\""},
       {"counter", "", "\"Read\", \"Usage\", \"AI Core Freq\", …"},
       {"unit", "", "unit of the value: \"MB/s\", \"%\", \"MHz\""},
       {"begin_ns", "ns", "start of the interval; NULL if the value is for a point in time"},
       {"time_ns", "ns", "time of the sample, or end of the interval"},
       {"value", "", "value in this unit; for an interval, the mean"},
       {"track_id", "", "v_counter_tracks.track_id"}},
      fmt::format(
          "SELECT track.device_id, (SELECT text FROM name WHERE id = track.kind_name_id) AS kind,"
          " (SELECT text FROM name WHERE id = track.subject_name_id) AS subject,"
          " (SELECT text FROM name WHERE id = track.name_id) AS counter,"
          " (SELECT text FROM name WHERE id = track.unit_name_id) AS unit, counter.begin_ns,"
          " counter.time_ns, {} AS value, counter.track_id"
          " FROM counter JOIN track ON track.id = counter.track_id",
          kShownValue)};
}

View counter_tracks() {
  return {
      "v_counter_tracks",
      "one counter, with statistics of its samples",
      {{"track_id", "", "id of the counter in this store"},
       {"device_id", "", "number of the device; NULL: the host"},
       {"kind", "", "same as in v_counters"},
       {"subject", "", "measured object"},
       {"number", "", "number of the object, if it has one: channel, port, core, module, process"},
       {"part", "", "second number: the engine of a type"},
       {"detail", "", "second text: the module of a function, the name of a model"},
       {"counter", "", "same as in v_counters"},
       {"unit", "", "unit of the values"},
       {"samples", "", "number of samples"},
       {"first_ns", "ns", "time of the first sample"},
       {"last_ns", "ns", "time of the last sample"},
       {"mean", "", "unweighted mean of the samples"},
       {"min", "", "smallest value"},
       {"max", "", "largest value"}},
      fmt::format(
          "SELECT track.id AS track_id, track.device_id,"
          " (SELECT text FROM name WHERE id = track.kind_name_id) AS kind,"
          " (SELECT text FROM name WHERE id = track.subject_name_id) AS subject, track.number,"
          " track.part, (SELECT text FROM name WHERE id = track.detail_name_id) AS detail,"
          " (SELECT text FROM name WHERE id = track.name_id) AS counter,"
          " (SELECT text FROM name WHERE id = track.unit_name_id) AS unit,"
          " count(counter.id) AS samples, min(counter.time_ns) AS first_ns,"
          " max(counter.time_ns) AS last_ns, avg({0}) AS mean, min({0}) AS min, max({0}) AS max"
          " FROM track JOIN counter ON counter.track_id = track.id GROUP BY track.id",
          kShownValue)};
}

View import_log() {
  return {"v_import_log",
          "the findings of import, and the kinds of files that were read",
          {{"severity", "",
            "'partial': data is lost or damaged; 'without': data is missing; 'note': no data is "
            "missing"},
           {"category", "", "\"skipped record\", \"imported\", …"},
           {"kind", "", "kind of raw file"},
           {"file", "", "name of the file"},
           {"reason", "", "reason in words"},
           {"count", "", "number of records, files or bytes"},
           {"id", "", "id of the finding, the same in all versions; empty for imported data"}},
          "SELECT severity, category, kind, file, reason, count, id FROM import_log"};
}

std::vector<View> capture_views() {
  return {devices(), models(), steps(), iterations(), counters(), counter_tracks(), import_log()};
}

}  // namespace

const std::vector<View>& views() {
  static const std::vector<View> all = [] {
    std::vector<View> list = device_views();
    for (auto&& some : {host_views(), capture_views()}) {
      list.insert(list.end(), some.begin(), some.end());
    }
    return list;
  }();
  return all;
}

}  // namespace msprof
