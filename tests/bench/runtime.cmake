# Overhead of the runtime. runtime_overhead.sh is run manually or by scripts/bench.
add_executable(runtime_bench runtime_bench.cpp)
target_link_libraries(runtime_bench PRIVATE msprof_flags svp_acl_static benchmark::benchmark)

# The same for a recording of libascendcl.
add_executable(recording_bench recording_bench.cpp)
target_link_libraries(recording_bench PRIVATE msprof_flags ascendcl_static benchmark::benchmark)

# Links the library that applications link.
add_executable(acl_overhead acl_overhead.cpp)
target_link_libraries(acl_overhead PRIVATE msprof_flags ascendcl)

# Compares a pair of stamps with two clock readings, through the library that applications link.
add_executable(stamp_bench stamp_bench.cpp)
target_include_directories(stamp_bench PRIVATE ${PROJECT_SOURCE_DIR}/lib)
target_link_libraries(stamp_bench PRIVATE msprof_flags ascendcl)
