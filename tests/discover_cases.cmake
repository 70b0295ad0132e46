# Lists the cases of a test program as tests of their own: cmake -DPROGRAM=… -DNAME=… -DOUT=… -P this file.
# Runs after each build of the program; ctest includes what it writes.
set(ENV{ASAN_OPTIONS} detect_leaks=0)
execute_process(COMMAND ${PROGRAM} --list-test-names-only OUTPUT_VARIABLE listed RESULT_VARIABLE count)
# Catch's exit code is the number of cases, as far as one byte goes.
if(listed STREQUAL "" OR NOT count MATCHES "^[0-9]+$")
  message(FATAL_ERROR "${PROGRAM} does not list its cases: ${count} ${listed}")
endif()
# Names are sentences: no character of theirs may mean something to CMake's lists.
string(REPLACE ";" "\\;" listed "${listed}")
string(REGEX REPLACE "\n+$" "" listed "${listed}")
string(REPLACE "[" "<open>" listed "${listed}")
string(REPLACE "]" "<close>" listed "${listed}")
string(REPLACE "\n" ";" listed "${listed}")
set(script "")
foreach(case IN LISTS listed)
  string(REPLACE "<open>" "[" case "${case}")
  string(REPLACE "<close>" "]" case "${case}")
  # What a filter of Catch gives a meaning.
  string(REGEX REPLACE "([][,\"\\\\])" "\\\\\\1" filter "${case}")
  # Quoted, it is no option of Catch's.
  if(case MATCHES "^-")
    set(filter "\"${filter}\"")
  endif()
  string(APPEND script "add_test([==[${NAME}: ${case}]==] [==[${PROGRAM}]==] [==[${filter}]==])\n"
                       "set_tests_properties([==[${NAME}: ${case}]==] PROPERTIES ${PROPERTIES})\n")
endforeach()
file(WRITE ${OUT} "${script}")
