# What the runtime costs. runtime_overhead.sh is run by hand or by scripts/bench.
add_executable(runtime_bench runtime_bench.cpp)
target_link_libraries(runtime_bench PRIVATE msprof_flags svp_acl_static benchmark::benchmark)
