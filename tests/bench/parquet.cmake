# Parquet files of a store.
add_executable(parquet_bench parquet_bench.cpp)
target_link_libraries(parquet_bench PRIVATE msprof_flags msprof_import msprof_export msprof_prof_builder
                      benchmark::benchmark SQLite::SQLite3)
