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

foreach(folder base ssh store session derive import export query)
  msprof_share_precompiled(${PROJECT_SOURCE_DIR}/lib/${folder} library)
endforeach()
foreach(folder lib/analyze lib/board lib/collect lib/doctor apps/msprof)
  msprof_share_precompiled(${PROJECT_SOURCE_DIR}/${folder} json)
endforeach()
foreach(folder support base session store derive import export query analyze doctor collect ssh board golden cli fuzz)
  msprof_share_precompiled(${PROJECT_SOURCE_DIR}/tests/${folder} test)
endforeach()
