# Unity builds and precompiled headers, which halve the build time. Every source must still include
# what it uses: scripts/lint compiles each one separately, with MSPROF_TOGETHER=OFF.
#
# Names in unnamed namespaces must be unique within a target.
option(MSPROF_TOGETHER "Compile several sources of a folder as one, with precompiled headers" ON)
if(NOT MSPROF_TOGETHER)
  function(msprof_precompile)
  endfunction()
  return()
endif()

set(CMAKE_UNITY_BUILD ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
# In a unity build, g++ treats types in unnamed namespaces as types of a header, as they are not in
# the main file.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(msprof_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
# A precompiled header is valid only for one kind of position-independent code: programs are
# compiled like libraries.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE -fPIC)

set(msprof_standard_headers
  <algorithm> <array> <atomic> <charconv> <chrono> <condition_variable> <cstdint> <cstring> <deque> <filesystem>
  <functional> <map> <memory> <mutex> <optional> <set> <span> <sstream> <string> <string_view> <thread> <tuple>
  <unordered_map> <utility> <vector>)

# msprof_precompile(SET TARGETS target... [HEADERS header...] [LIBRARIES library...]): builds one
# precompiled header with the options of msprof_flags and of the libraries, and uses it in the
# targets, except those with C sources or other options (msprof_unsanitized).
function(msprof_precompile set)
  cmake_parse_arguments(arg "" "" "TARGETS;HEADERS;LIBRARIES" ${ARGN})
  set(maker msprof_precompiled_${set})
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/precompiled_${set}.cpp CONTENT "")
  add_library(${maker} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/precompiled_${set}.cpp)
  target_link_libraries(${maker} PRIVATE msprof_flags ${arg_LIBRARIES})
  target_precompile_headers(${maker} PRIVATE ${msprof_standard_headers} ${arg_HEADERS})
  foreach(target ${arg_TARGETS})
    get_target_property(sources ${target} SOURCES)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    if("${sources}" MATCHES "\\.c(;|$)" OR "${libraries}" MATCHES "msprof_unsanitized")
      continue()
    endif()
    target_precompile_headers(${target} REUSE_FROM ${maker})
  endforeach()
endfunction()
