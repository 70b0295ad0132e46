# Many ranks: rank summaries of captures and their merge, as whole commands.
add_executable(rank_commands rank_commands.cpp)
target_link_libraries(rank_commands PRIVATE msprof_flags fmt::fmt)
