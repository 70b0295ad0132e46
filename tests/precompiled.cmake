# Precompiled headers, for the test build alone: most of the time of a small source goes into the
# headers of libraries. Every source still includes what it uses; the other builds prove it.
# Three sets: what reads or writes JSON documents has that beside what all have, tests have Catch2, too.
set(msprof_library_headers
  <algorithm> <array> <charconv> <cstdint> <cstring> <deque> <filesystem> <functional> <map> <memory>
  <optional> <set> <span> <string> <string_view> <tuple> <unordered_map> <utility> <vector>)

foreach(set library json test)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/precompiled_${set}.cpp "")
  add_library(msprof_precompiled_${set} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/precompiled_${set}.cpp)
  target_link_libraries(msprof_precompiled_${set} PRIVATE msprof_flags)
endforeach()
target_link_libraries(msprof_precompiled_library PRIVATE fmt::fmt)
target_link_libraries(msprof_precompiled_json PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
target_link_libraries(msprof_precompiled_test PRIVATE Catch2::Catch2 nlohmann_json::nlohmann_json)
target_precompile_headers(msprof_precompiled_library PRIVATE
  ${msprof_library_headers} <fmt/format.h>)
target_precompile_headers(msprof_precompiled_json PRIVATE
  ${msprof_library_headers} <fmt/format.h> <nlohmann/json.hpp>)
target_precompile_headers(msprof_precompiled_test PRIVATE
  ${msprof_library_headers} <fstream> <thread> <catch2/catch.hpp> <nlohmann/json.hpp>)

set_target_properties(msprof_precompiled_test PROPERTIES MSPROF_TEST_CODE ON)

# For every library and program of `folder` and below that is compiled with our flags alone.
function(msprof_share_precompiled folder set)
  msprof_targets_below(${folder} targets)
  foreach(target ${targets})
    target_precompile_headers(${target} REUSE_FROM msprof_precompiled_${set})
  endforeach()
endfunction()

foreach(folder base ssh store session derive import export cluster query)
  msprof_share_precompiled(${PROJECT_SOURCE_DIR}/lib/${folder} library)
endforeach()
foreach(folder lib/analyze lib/board lib/collect lib/doctor apps/msprof)
  msprof_share_precompiled(${PROJECT_SOURCE_DIR}/${folder} json)
endforeach()
foreach(folder support base session store derive import export query analyze doctor collect ssh board golden counters cluster cli fuzz)
  msprof_share_precompiled(${PROJECT_SOURCE_DIR}/tests/${folder} test)
endforeach()

# Tests of the runtimes; the programs beside them are not sanitized, or are C.
target_precompile_headers(acl_test REUSE_FROM msprof_precompiled_test)
target_precompile_headers(acl_dynamic_test REUSE_FROM msprof_precompiled_test)
target_precompile_headers(mstx_test REUSE_FROM msprof_precompiled_test)
target_precompile_headers(python_test REUSE_FROM msprof_precompiled_test)
target_precompile_headers(runtime_test REUSE_FROM msprof_precompiled_test)

# Several sources as one, for the test build alone: what templates make of the headers (JSON, Catch) is made once for
# eight of them. A name in an unnamed namespace is then that of all; a source with a name that another one of its
# target has, too, stays alone.
# Tools that read compile commands (scripts/lint) want each source by itself.
function(msprof_compile_together folder)
  if(CMAKE_EXPORT_COMPILE_COMMANDS)
    return()
  endif()
  msprof_targets_below(${folder} targets)
  foreach(target ${targets})
    # Of a library of the tests a program may take one source alone.
    if(NOT (folder MATCHES "^${PROJECT_SOURCE_DIR}/tests/" AND NOT target MATCHES "_test$"))
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    endif()
  endforeach()
  foreach(source ${ARGN})
    set_property(SOURCE ${folder}/${source}.cpp TARGET_DIRECTORY ${targets} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()

set(lib ${PROJECT_SOURCE_DIR}/lib)
set(tests ${PROJECT_SOURCE_DIR}/tests)
msprof_compile_together(${PROJECT_SOURCE_DIR}/apps/msprof query_command)
msprof_compile_together(${lib}/base)
msprof_compile_together(${lib}/ssh authentication)
msprof_compile_together(${lib}/session svp_session)
msprof_compile_together(${lib}/derive)
msprof_compile_together(${lib}/cluster clocks)
msprof_compile_together(${lib}/runtime/svp api/rt api/runtime_state)
msprof_compile_together(${lib}/runtime/acl prof/recording prof/configuration prof/stamps device/addition api/mdl_load)
msprof_compile_together(${lib}/runtime/python profiling)
msprof_compile_together(${lib}/import
  record_layout svp/aicpu svp/aicore cann/data_preprocess cann/dictionaries cann/record_scan cann/record_stream
  cann/join/host_rows cann/join/device_tasks cann/join/join_host)
msprof_compile_together(${lib}/export perfetto_sink trace_events
  summary/cann_acl summary/cann_msprof_tx summary/cann_op_statistic summary/cann_op_summary summary/svp_acl_statistic
  summary/svp_frequency summary/svp_op_statistic summary/svp_op_summary summary_exporter timeline/cann_communication timeline/cann_hardware
  timeline/cann_steps unified/tasks)
msprof_compile_together(${lib}/analyze advise/facts advise/table_scan report/report_page report/timeline_picture)
msprof_compile_together(${lib}/doctor capture_checks)
msprof_compile_together(${lib}/collect
  elf_file run_folder cann/collector_options cann/dynamic_client cann/json_fault cann/profiling_options)
msprof_compile_together(${lib}/board listing server shell ssh_host tar_transfer upload)
msprof_compile_together(${tests}/acl
  examples_test prof_config_test framework_options_test dynamic/dynamic_session_test)
# Its sources try each header by itself.
set_target_properties(acl_headers_test PROPERTIES UNITY_BUILD OFF)
msprof_compile_together(${tests}/analyze compare_counters_test)
msprof_compile_together(${tests}/export perfetto_test perfetto_trace export_unified_test export_cann_test export_cann_tasks_test export_test
  export_timeline_scope_test export_timeline_test)
msprof_compile_together(${tests}/import
  cann_kinds_aicpu_test device_kinds_test cann_kinds_host_test cann_call_source_test device_tasks_test)
msprof_compile_together(${tests}/runtime runtime_robustness_test)
msprof_compile_together(${tests}/session svp_names_test)
msprof_compile_together(${tests}/ssh command_test patience_test sftp_weak_test)
msprof_compile_together(${tests}/board
  collect_run_lock_test collect_upload_test cat_reader_test tar_writer_test transfer_fixture transfer_test)
msprof_compile_together(${tests}/cli cli_report_test cli_case_study_test cli_hostile_store_test cli_query_sql_test cli_query_test command_line_test)
msprof_compile_together(${tests}/collect
  cann/run_test collect_arrival_test collect_command_test collect_demo_test collect_options_test)
msprof_compile_together(${tests}/golden
  cann_damage_folder_test cann_batches_test cann_damage_records_test cann_host_tables_test cann_other_chips_test
  cann_style_test)
