# Collects over SSH from a board on the loopback; compared with the public ssh and tar.
add_executable(board_bench board_bench.cpp board_contest.cpp board_runs.cpp)
target_link_libraries(board_bench PRIVATE msprof_flags msprof_board msprof_board_fixture
                      nlohmann_json::nlohmann_json)
# Several boards in parallel, compared with the slowest of them.
add_executable(several_boards several_boards.cpp)
target_link_libraries(several_boards PRIVATE msprof_flags msprof_board_fixture fmt::fmt)
