# Marks what is compiled of the tests, for msprof_flags and the precompiled headers.

# The libraries and programs of `folder` and below, into `out`.
function(msprof_targets_below folder out)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  set(found "")
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "_LIBRARY|EXECUTABLE" AND NOT target MATCHES "msprof_precompiled|msprof_catch_main")
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below ${folders})
    msprof_targets_below(${below} more)
    list(APPEND found ${more})
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

if(MSPROF_TESTS)
  msprof_targets_below(${PROJECT_SOURCE_DIR}/tests test_targets)
  set_target_properties(${test_targets} PROPERTIES MSPROF_TEST_CODE ON)
endif()
