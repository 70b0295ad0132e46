# Hot loops of import and export, and whole commands over a generated capture.
add_executable(svp_bench svp_bench.cpp)
target_link_libraries(svp_bench PRIVATE msprof_flags msprof_import msprof_export benchmark::benchmark)

add_executable(svp_commands svp_commands.cpp svp_baselines.cpp command_runs.cpp)
target_link_libraries(svp_commands PRIVATE msprof_flags msprof_base SQLite::SQLite3)
