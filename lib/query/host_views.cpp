// Views of what the host did.
#include "query/views_of.hpp"

namespace msprof {

namespace {

View api_calls() {
  return {
      "v_api_calls",
      "one call on the host",
      {{"call_id", "", "its number here"},
       {"process_id", "", "of the caller"},
       {"thread_id", "", "of the caller"},
       {"level", "", "PROF…: 'acl', 'model', 'node', 'communication', 'runtime', else its number"},
       {"type", "", "JOB…: 'model', 'runtime', …; PROF…: the mode, \"ACL_MODEL\""},
       {"name", "", "\"svp_acl_mdl_execute\""},
       {"item", "", "PROF…: the operator or model it is about"},
       {"start_ns", "ns", "begin"},
       {"duration_us", "us", "how long"}},
      "SELECT id AS call_id, process_id, thread_id, CASE level WHEN 20000 THEN 'acl'"
      " WHEN 15000 THEN 'model' WHEN 10000 THEN 'node' WHEN 5500 THEN 'communication'"
      " WHEN 5000 THEN 'runtime' ELSE CAST(level AS TEXT) END AS level,"
      " (SELECT text FROM name WHERE id = type_name_id) AS type,"
      " (SELECT text FROM name WHERE id = name_id) AS name,"
      " (SELECT text FROM name WHERE id = item_name_id) AS item,"
      " start_ns, (end_ns - 0.0 - start_ns) / 1000 AS duration_us FROM api_call"};
}

View user_ranges() {
  return {"v_user_ranges",
          "a range or mark that the application named itself (PROF…, msproftx)",
          {{"process_id", "", "of the application"},
           {"thread_id", "", "of the application"},
           {"kind", "", "'marker', 'push/pop', 'start/end', 'marker_ex'"},
           {"domain", "", "its domain"},
           {"message", "", "what the application called it"},
           {"start_ns", "ns", "begin"},
           {"duration_us", "us", "how long; 0 for a mark"}},
          "SELECT process_id, thread_id, CASE event_type WHEN 0 THEN 'marker' WHEN 1 THEN"
          " 'push/pop' WHEN 2 THEN 'start/end' WHEN 3 THEN 'marker_ex' END AS kind,"
          " (SELECT text FROM name WHERE id = domain_name_id) AS domain,"
          " (SELECT text FROM name WHERE id = message_name_id) AS message, start_ns,"
          " (end_ns - 0.0 - start_ns) / 1000 AS duration_us FROM user_range"};
}

View memory_blocks() {
  return {"v_memory_blocks",
          "device memory that an operator allocated, until it was released (PROF…)",
          {{"device_id", "", "number of the device"},
           {"operator", "", "who allocated it"},
           {"size_bytes", "bytes", "how much"},
           {"allocated_ns", "ns", "when"},
           {"duration_us", "us", "how long it was held; NULL: never released"}},
          "SELECT event.device_id, (SELECT text FROM name WHERE id = event.name_id) AS operator,"
          " event.size_bytes, event.time_ns AS allocated_ns, memory_block.duration_ns / 1000.0"
          " AS duration_us FROM memory_block JOIN memory_event AS event"
          " ON event.id = memory_block.allocation_id"};
}

}  // namespace

std::vector<View> host_views() {
  return {api_calls(), user_ranges(), memory_blocks()};
}

}  // namespace msprof
