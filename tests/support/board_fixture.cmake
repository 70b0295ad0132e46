# Boards on the loopback, and networks and disks that fail, for the tests of everything over SSH.
add_library(msprof_board_fixture STATIC
  board_processes.cpp board_server.cpp false_servers.cpp kbdint_server.cpp loopback.cpp network_proxy.cpp
  proxy_lane.cpp small_disk.cpp ssh_client.cpp ssh_commands.cpp)
target_compile_definitions(msprof_board_fixture PRIVATE
  BOARD_MAKER="${CMAKE_CURRENT_SOURCE_DIR}/board/make_board")
# The network of scripts/demo-board.
add_executable(board_line EXCLUDE_FROM_ALL board/line.cpp)
target_link_libraries(board_line PRIVATE msprof_flags msprof_board_fixture)
target_link_libraries(msprof_board_fixture PUBLIC msprof_test_support Threads::Threads
                      PRIVATE msprof_flags ssh)
