// Views of the capture as a whole.
#include "query/views_of.hpp"

namespace msprof {

namespace {

View devices() {
  return {"v_devices",
          "one device",
          {{"device_id", "", "its number"},
           {"chip", "", "\"Ascend910B\""},
           {"frequency_mhz", "MHz", "of its compute cores"},
           {"core_count", "", "AI Cores"},
           {"vector_core_count", "", "vector cores"}},
          "SELECT id AS device_id, (SELECT text FROM name WHERE id = chip_name_id) AS chip,"
          " frequency_hz / 1e6 AS frequency_mhz, core_count, vector_core_count FROM device"};
}

View models() {
  return {"v_models",
          "one loaded model that the capture names",
          {{"device_id", "", "its device; NULL where it is not said"},
           {"model_id", "", "of the runtime"},
           {"name", "", "its name"},
           {"batch", "", "that it was built for (JOB…); v_steps has the batch that ran"}},
          "SELECT device_id, model_id, (SELECT text FROM name WHERE id = name_id) AS name,"
          " batch_num AS batch FROM model"};
}

View steps() {
  return {"v_steps",
          "one capture of a model: executions whose records were saved together (JOB…)",
          {{"device_id", "", "number of the device"},
           {"model_id", "", "of the runtime"},
           {"model", "", "name of the model"},
           {"step", "", "its number within the model, from 0"},
           {"batch", "", "pictures of one execution"},
           {"pictures_before", "", "pictures that were done when it began"},
           {"icache_hit", "", "hits of the instruction cache"},
           {"icache_miss", "", "misses of the instruction cache"},
           {"executions", "", "how many executions it holds"},
           {"task_count", "", "executions of layers"},
           {"start_ns", "ns", "begin of its first task"},
           {"busy_us", "us", "durations of all its tasks together"}},
          "SELECT model.device_id, model.model_id, (SELECT text FROM name WHERE id ="
          " model.name_id) AS model, step.number AS step, step.batch_num AS batch,"
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
           {"model_id", "", "of the runtime"},
           {"iteration", "", "its number (`export --iteration-id`)"},
           {"start_ns", "ns", "begin"},
           {"duration_us", "us", "how long"},
           {"fp_bp_us", "us", "forward and backward"},
           {"refresh_us", "us", "refresh"},
           {"data_aug_us", "us", "until the next one began to compute"}},
          "SELECT device_id, model_number AS model_id, number AS iteration, start_ns,"
          " duration_ns / 1000.0 AS duration_us, fp_bp_ns / 1000.0 AS fp_bp_us,"
          " refresh_ns / 1000.0 AS refresh_us, data_aug_ns / 1000.0 AS data_aug_us"
          " FROM iteration"};
}

View counters() {
  return {"v_counters",
          "a value of a counter over time, the frequency of the cores for one",
          {{"device_id", "", "number of the device"},
           {"counter", "", "\"AI Core Freq\", \"Aicore Voltage\", …"},
           {"unit", "", "of the value, \"MHz\" or \"mV\""},
           {"time_ns", "ns", "when"},
           {"value", "", "from then on"}},
          "SELECT track.device_id, (SELECT text FROM name WHERE id = track.name_id) AS counter,"
          " (SELECT text FROM name WHERE id = track.unit_name_id) AS unit, counter.time_ns,"
          " counter.value FROM counter JOIN track ON track.id = counter.track_id"};
}

View import_log() {
  return {"v_import_log",
          "what the verdict says: a kind of file that was read, or something that is wrong",
          {{"severity", "",
            "'partial': lost or damaged; 'without': the profile lacks it; 'note': nothing lacks"},
           {"category", "", "\"skipped record\", \"imported\", …"},
           {"kind", "", "of raw file"},
           {"file", "", "which one"},
           {"reason", "", "why"},
           {"count", "", "records, files or bytes"},
           {"id", "", "which finding: the same in every version; empty for what was read"}},
          "SELECT severity, category, kind, file, reason, count, id FROM import_log"};
}

}  // namespace

std::vector<View> capture_views() {
  return {devices(), models(), steps(), iterations(), counters(), import_log()};
}

}  // namespace msprof
