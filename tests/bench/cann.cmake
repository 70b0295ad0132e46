# Import and export of PROF folders: whole commands over generated runs, and hot loops.
add_executable(cann_commands cann_commands.cpp large_runs.cpp cann_baselines.cpp command_runs.cpp)
target_link_libraries(cann_commands PRIVATE msprof_flags msprof_prof_builder fmt::fmt SQLite::SQLite3)

add_executable(cann_counters cann_counters.cpp cann_baselines.cpp command_runs.cpp)
target_link_libraries(cann_counters PRIVATE msprof_flags msprof_prof_builder fmt::fmt SQLite::SQLite3)

add_executable(cann_bench cann_bench.cpp)
target_link_libraries(cann_bench PRIVATE msprof_flags msprof_import msprof_export msprof_prof_builder
                      benchmark::benchmark)

add_executable(old_commands old_commands.cpp cann_baselines.cpp command_runs.cpp)
target_link_libraries(old_commands PRIVATE msprof_flags msprof_prof_builder fmt::fmt SQLite::SQLite3)

add_executable(speed_commands speed_commands.cpp floors.cpp large_runs.cpp cann_baselines.cpp command_runs.cpp)
target_link_libraries(speed_commands PRIVATE msprof_flags msprof_store msprof_prof_builder fmt::fmt SQLite::SQLite3)
