# Boards on the loopback, and networks that fail: for the tests of what goes over SSH.
add_library(msprof_board_fixture STATIC board_processes.cpp board_server.cpp loopback.cpp)
target_compile_definitions(msprof_board_fixture PRIVATE
  BOARD_MAKER="${CMAKE_CURRENT_SOURCE_DIR}/board/make_board")
target_link_libraries(msprof_board_fixture PUBLIC msprof_test_support PRIVATE msprof_flags)
